//! `#[derive(Differentiable)]`: structs and enums that contain numbers.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericArgument, GenericParam, Generics, Ident, Index, Member, Path,
    PathArguments, Result, Type, Variant, parse_quote,
};

/// The implementation of `Differentiable` for a struct or an enum.
///
/// Errors point at the wrong part: a union, an enum without variants, a plain number, several possible parameters, an
/// unknown option.
pub fn derive(input: DeriveInput) -> Result<TokenStream> {
    let options = Options::parse(&input)?;
    let shapes = shapes(&input)?;
    let library = &options.library;
    let scalar = scalar(&input.generics, options.scalar)?;
    let name = &input.ident;

    let mut generics = input.generics.clone();
    let number: Ident = scalar.clone().unwrap_or_else(|| format_ident!("__Number"));
    if scalar.is_none() {
        generics.params.push(parse_quote!(#number));
    }
    let (_, ty_generics, _) = input.generics.split_for_impl();
    let clause = generics.make_where_clause();
    clause.predicates.push(parse_quote!(#number: #library::Real));
    for shape in &shapes {
        for part in &shape.parts {
            if part.discrete && scalar.is_some() {
                let ty = &part.ty;
                clause.predicates.push(parse_quote!(#ty: ::core::clone::Clone));
            }
        }
    }
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let with = with(name, &input.generics, scalar.as_ref());

    let class = quote!(#library::Differentiable<#number>);
    let maps = shapes.iter().map(|shape| {
        let (path, bindings) = (shape.path(name), shape.pattern("a"));
        let values = shape.parts.iter().enumerate().map(|(k, part)| {
            let (member, value) = (&part.member, part.map(&class, &binding("a", k)));
            quote!(#member: #value)
        });
        quote!(#path #bindings => #path { #(#values),* },)
    });
    let eaches = shapes.iter().map(|shape| {
        let (path, bindings) = (shape.path(name), shape.pattern("a"));
        let calls = shape.parts.iter().enumerate().map(|(k, part)| part.each(&class, &binding("a", k)));
        quote!(#path #bindings => { #(#calls)* })
    });
    let zips = shapes.iter().map(|shape| {
        let (path, left, right) = (shape.path(name), shape.pattern("a"), shape.pattern("b"));
        let parts = shape.parts.iter().enumerate();
        let calls = parts.map(|(k, part)| part.zip(library, &class, &binding("a", k), &binding("b", k)));
        quote!((#path #left, #path #right) => { #(#calls)* ::core::result::Result::Ok(()) })
    });
    let texts: Vec<TokenStream> = shapes
        .iter()
        .map(|shape| {
            let (path, text) = (shape.path(name), shape.text(name));
            quote!(#path { .. } => #text,)
        })
        .collect();

    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables, unreachable_patterns)]
        impl #impl_generics #class for #name #ty_generics #where_clause {
            type With<__Other: #library::Real> = #with;
            fn map<__Other: #library::Real>(
                &self,
                f: &mut impl ::core::ops::FnMut(#number) -> __Other,
            ) -> Self::With<__Other> {
                match self { #(#maps)* }
            }
            fn each(&self, f: &mut impl ::core::ops::FnMut(#number)) {
                match self { #(#eaches)* }
            }
            fn zip<__Other: #library::Real>(
                &self,
                other: &Self::With<__Other>,
                f: &mut impl ::core::ops::FnMut(#number, __Other),
            ) -> ::core::result::Result<(), #library::Mismatch> {
                match (self, other) {
                    #(#zips)*
                    (expected, found) => ::core::result::Result::Err(#library::Mismatch::new(
                        match expected { #(#texts)* },
                        match found { #(#texts)* },
                    )),
                }
            }
        }
    })
}

/// The options of the type: `#[differentiable(crate = path, scalar = T)]`.
struct Options {
    library: Path,
    scalar: Option<Ident>,
}

impl Options {
    fn parse(input: &DeriveInput) -> Result<Options> {
        let mut options = Options { library: parse_quote!(::accel::dual), scalar: None };
        for attr in input.attrs.iter().filter(|a| a.path().is_ident("differentiable")) {
            attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    options.library = meta.value()?.parse()?;
                } else if meta.path.is_ident("scalar") {
                    options.scalar = Some(meta.value()?.parse()?);
                } else {
                    let found = &meta.path;
                    let found = quote!(#found);
                    let expected = "expected `crate = path` or `scalar = T`";
                    return Err(meta.error(format!("unknown option `{found}`: {expected}")));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }
}

/// The type parameter that is the type of the numbers.
fn scalar(generics: &Generics, chosen: Option<Ident>) -> Result<Option<Ident>> {
    let mut parameters = generics.type_params().map(|p| &p.ident);
    if let Some(chosen) = chosen {
        if !parameters.any(|p| *p == chosen) {
            return Err(Error::new(chosen.span(), format!("`{chosen}` is not a type parameter of this type")));
        }
        return Ok(Some(chosen));
    }
    match (parameters.next(), parameters.next()) {
        (Some(_), Some(second)) => Err(Error::new(
            second.span(),
            "`Differentiable` cannot tell which type parameter is the type of the numbers: write `#[differentiable(scalar = T)]`",
        )),
        (first, _) => Ok(first.cloned()),
    }
}

/// The type with the numbers of type `__Other`.
fn with(name: &Ident, generics: &Generics, scalar: Option<&Ident>) -> TokenStream {
    if scalar.is_none() {
        return quote!(Self);
    }
    let arguments = generics.params.iter().map(|parameter| match parameter {
        GenericParam::Lifetime(p) => {
            let lifetime = &p.lifetime;
            quote!(#lifetime)
        }
        GenericParam::Type(p) if Some(&p.ident) == scalar => quote!(__Other),
        GenericParam::Type(p) => {
            let ident = &p.ident;
            quote!(#ident)
        }
        GenericParam::Const(p) => {
            let ident = &p.ident;
            quote!(#ident)
        }
    });
    quote!(#name<#(#arguments),*>)
}

/// A struct or a variant of an enum.
struct Shape {
    variant: Option<Ident>,
    parts: Vec<Part>,
}

/// A field.
struct Part {
    member: Member,
    ty: Type,
    discrete: bool,
}

fn shapes(input: &DeriveInput) -> Result<Vec<Shape>> {
    match &input.data {
        Data::Struct(data) => Ok(vec![Shape { variant: None, parts: parts(&data.fields)? }]),
        Data::Enum(data) if data.variants.is_empty() => Err(Error::new(
            input.ident.span(),
            "`Differentiable` cannot be derived for an enum without variants: it has no values",
        )),
        Data::Enum(data) => {
            let shape = |v: &Variant| Ok(Shape { variant: Some(v.ident.clone()), parts: parts(&v.fields)? });
            data.variants.iter().map(shape).collect()
        }
        Data::Union(data) => Err(Error::new(
            data.union_token.span,
            "`Differentiable` cannot be derived for a union: it does not know which of its fields it contains; use an enum",
        )),
    }
}

fn parts(fields: &Fields) -> Result<Vec<Part>> {
    fields.iter().enumerate().map(|(k, field)| part(k, field)).collect()
}

fn part(k: usize, field: &Field) -> Result<Part> {
    let mut discrete = false;
    for attr in field.attrs.iter().filter(|a| a.path().is_ident("differentiable")) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("discrete") {
                discrete = true;
                return Ok(());
            }
            let found = &meta.path;
            let found = quote!(#found);
            Err(meta.error(format!("unknown option `{found}` of a field: expected `discrete`")))
        })?;
    }
    if let Type::Path(path) = &field.ty
        && !discrete
        && (path.path.is_ident("f64") || path.path.is_ident("f32"))
    {
        let found = &field.ty;
        let found = quote!(#found);
        return Err(Error::new_spanned(
            &field.ty,
            format!(
                "`Differentiable`: expected a type parameter as the type of a number, found `{found}`. Write `struct P<T> {{ x: T }}`, or mark the field with `#[differentiable(discrete)]` if it has no derivative"
            ),
        ));
    }
    let member = field.ident.clone().map_or(Member::Unnamed(Index::from(k)), Member::Named);
    Ok(Part { member, ty: field.ty.clone(), discrete })
}

/// The variable for a field of the first or the second value.
fn binding(side: &str, k: usize) -> Ident {
    format_ident!("__{side}{k}")
}

impl Shape {
    fn path(&self, name: &Ident) -> TokenStream {
        match &self.variant {
            Some(variant) => quote!(#name::#variant),
            None => quote!(#name),
        }
    }

    fn text(&self, name: &Ident) -> String {
        match &self.variant {
            Some(variant) => format!("`{name}::{variant}`"),
            None => format!("`{name}`"),
        }
    }

    fn pattern(&self, side: &str) -> TokenStream {
        let fields = self.parts.iter().enumerate().map(|(k, part)| {
            let (member, binding) = (&part.member, binding(side, k));
            quote!(#member: #binding)
        });
        quote!({ #(#fields),* })
    }
}

impl Part {
    /// The type in a `Box`, or in an `Option` of a `Box`. Other crates cannot implement a trait for all boxes.
    fn boxed(&self) -> Option<(Type, bool)> {
        if let Some(inner) = argument_of(&self.ty, "Box") {
            return Some((inner, false));
        }
        let inner = argument_of(&self.ty, "Option")?;
        Some((argument_of(&inner, "Box")?, true))
    }

    fn map(&self, class: &TokenStream, a: &Ident) -> TokenStream {
        let ty = &self.ty;
        match self.boxed() {
            _ if self.discrete => quote!(::core::clone::Clone::clone(#a)),
            None => quote!(<#ty as #class>::map(#a, f)),
            Some((inner, false)) => quote!(::std::boxed::Box::new(<#inner as #class>::map(&**#a, f))),
            Some((inner, true)) => {
                let value = quote!(::std::boxed::Box::new(<#inner as #class>::map(&**inner, f)));
                quote!(#a.as_ref().map(|inner| #value))
            }
        }
    }

    fn each(&self, class: &TokenStream, a: &Ident) -> TokenStream {
        let ty = &self.ty;
        match self.boxed() {
            _ if self.discrete => quote!(),
            None => quote!(<#ty as #class>::each(#a, f);),
            Some((inner, false)) => quote!(<#inner as #class>::each(&**#a, f);),
            Some((inner, true)) => {
                quote!(if let ::core::option::Option::Some(inner) = #a { <#inner as #class>::each(&**inner, f); })
            }
        }
    }

    fn zip(&self, library: &Path, class: &TokenStream, a: &Ident, b: &Ident) -> TokenStream {
        let ty = &self.ty;
        match self.boxed() {
            _ if self.discrete => quote!(),
            None => quote!(<#ty as #class>::zip(#a, #b, f)?;),
            Some((inner, false)) => quote!(<#inner as #class>::zip(&**#a, &**#b, f)?;),
            Some((inner, true)) => quote! {
                match (#a, #b) {
                    (::core::option::Option::Some(a), ::core::option::Option::Some(b)) => {
                        <#inner as #class>::zip(&**a, &**b, f)?;
                    }
                    (::core::option::Option::None, ::core::option::Option::None) => {}
                    (a, b) => {
                        let text = |some| if some { "`Some`" } else { "`None`" };
                        return ::core::result::Result::Err(#library::Mismatch::new(text(a.is_some()), text(b.is_some())));
                    }
                }
            },
        }
    }
}

/// The argument of a type such as `Box<T>`.
fn argument_of(ty: &Type, name: &str) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner.clone()),
        _ => None,
    }
}
