//! `#[derive(Elt)]` for enums.
//!
//! NOTE [Enums as elements]: an enum is represented as a record of the number of its variant, from 1 on, and of the fields of all variants, of
//! which those of other variants are 0. The number of a variant is no number with a derivative, so in a gradient it is 0, and then the variant
//! is the first one with a field that is not 0.

use crate::companion::{Companion, ELEMENTS};
use crate::record::{Field, Record, label, library, no_lifetimes};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, Member, Result, Type, Visibility, parse_quote};

/// A variant of an enum.
struct Variant {
    name: Ident,
    /// The name in programs: in lower case, with underscores.
    snake: Ident,
    fields: Vec<Part>,
    named: bool,
}

/// A field of a variant.
struct Part {
    member: Member,
    ty: Type,
    /// Its name among the fields of all variants, which is also that of the variable for it.
    name: Ident,
    /// Its name as a parameter.
    parameter: Ident,
}

impl Variant {
    fn new(v: &syn::Variant) -> Variant {
        let snake = snake_case(&v.ident);
        let part = |(i, field): (usize, &syn::Field)| {
            let member = field.ident.clone().map_or(Member::from(i), Member::from);
            Part {
                name: format_ident!("{}_{}", snake.to_string().trim_end_matches('_'), label(&member)),
                parameter: field.ident.clone().unwrap_or_else(|| format_ident!("field_{i}")),
                member,
                ty: field.ty.clone(),
            }
        };
        let fields = v.fields.iter().enumerate().map(part).collect();
        Variant { name: v.ident.clone(), snake, fields, named: matches!(v.fields, Fields::Named(_)) }
    }

    /// The value of this variant, or the pattern for it, with the variables for its fields.
    fn value(&self) -> TokenStream {
        let name = &self.name;
        let members = self.fields.iter().map(|Part { member, name, .. }| quote!(#member: #name));
        match (self.named, self.fields.is_empty()) {
            (false, true) => quote!(Self::#name),
            _ => quote!(Self::#name { #(#members),* }),
        }
    }
}

/// `BigCircle` as `big_circle`.
fn snake_case(name: &Ident) -> Ident {
    let mut snake = String::new();
    for c in name.unraw().to_string().chars() {
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    match syn::parse_str::<Ident>(&snake) {
        Ok(_) => Ident::new(&snake, name.span()),
        // A keyword.
        Err(_) => Ident::new(&format!("{snake}_"), name.span()),
    }
}

/// The implementation of the derive.
pub fn elt(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    no_lifetimes(input, "Elt")?;
    let variants: Vec<Variant> = data.variants.iter().map(Variant::new).collect();
    if !(1..256).contains(&variants.len()) {
        return Err(Error::new(input.ident.span(), "`Elt` can be derived for an enum of 1 to 255 variants"));
    }
    let all: Vec<&Part> = variants.iter().flat_map(|v| &v.fields).collect();
    let tag = Field { vis: Visibility::Inherited, member: parse_quote!(tag), ty: parse_quote!(u8) };
    let fields = all.iter().map(|part| Field {
        vis: Visibility::Inherited,
        member: Member::Named(part.name.clone()),
        ty: part.ty.clone(),
    });
    let record = Record {
        vis: input.vis.clone(),
        name: input.ident.clone(),
        generics: input.generics.clone(),
        fields: [tag].into_iter().chain(fields).collect(),
        named: true,
        library: library(input)?,
    };
    let companion = Companion::new(&record, &ELEMENTS);
    let Companion { library, class, generics, name: companion_name, .. } = &companion;
    let (definition, to_exp, shared) = (companion.definition(), companion.to_exp(), companion.shared_items());
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let name = &record.name;
    let vis = &record.vis;
    let numbers: Vec<u8> = (1..=u8::MAX).take(variants.len()).collect();

    let values: Vec<TokenStream> = variants.iter().map(Variant::value).collect();
    let to_scalars = variants.iter().zip(&values).zip(&numbers).map(|((v, pattern), number)| {
        let parts = variants.iter().flat_map(|other| {
            other.fields.iter().map(|part| {
                let (name, ty) = (&part.name, &part.ty);
                match other.name == v.name {
                    true => quote!(<#ty as #class>::to_scalars(#name, out);),
                    false => quote!(#library::absent_scalars::<#ty>(out);),
                }
            })
        });
        quote!(#pattern => { <u8 as #class>::to_scalars(&#number, out); #(#parts)* })
    });
    let reads = all.iter().map(|part| {
        let (name, ty) = (&part.name, &part.ty);
        quote!(let #name = <#ty as #class>::from_scalars(scalars)?;)
    });
    let present = variants.iter().map(|v| {
        let names = v.fields.iter().map(|part| &part.name);
        quote!(false #(|| !#library::is_absent(&#names))*)
    });
    let last = values.last();

    let constructors = variants.iter().zip(&numbers).map(|(v, number)| {
        let (snake, variant) = (&v.snake, &v.name);
        let doc = format!("[`{name}::{variant}`] inside a program.");
        let (parameters, types): (Vec<_>, Vec<_>) = v.fields.iter().map(|part| (&part.parameter, &part.ty)).unzip();
        let fields = variants.iter().flat_map(|other| {
            other.fields.iter().map(|part| {
                let (name, ty, parameter) = (&part.name, &part.ty, &part.parameter);
                match other.name == v.name {
                    true => quote!(#name: <#ty as #class>::unlift(#library::ToExp::<#ty>::to_exp(#parameter))),
                    false => quote!(#name: #library::absent::<#ty>()),
                }
            })
        });
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #[track_caller]
            #vis fn #snake(#(#parameters: impl #library::ToExp<#types>),*) -> Self {
                #companion_name { tag: #library::ToExp::<u8>::to_exp(#number), #(#fields),* }
            }
        }
    });

    let branches: Vec<Ident> = (0..variants.len()).map(|i| format_ident!("Branch{i}")).collect();
    let cases: Vec<&Ident> = variants.iter().map(|v| &v.snake).collect();
    let arguments = variants.iter().map(|v| {
        let types = v.fields.iter().map(|part| &part.ty);
        quote!((#(<#types as #class>::Exp),*))
    });
    let results = variants.iter().map(|v| {
        let (snake, names) = (&v.snake, v.fields.iter().map(|part| &part.name));
        quote!(#library::ToExp::<Found>::to_exp(#snake(#(self.#names),*)))
    });
    // The last variant needs no question.
    let mut chosen = TokenStream::new();
    for (result, number) in results.zip(&numbers).rev() {
        chosen = match chosen.is_empty() {
            true => result,
            false => quote!(#library::cond(self.tag.eq(#number), #result, #chosen)),
        };
    }
    Ok(quote! {
        #definition

        impl #impl_generics #companion_name #ty_generics #where_clause {
            #(#constructors)*

            /// What the function for the variant that is there makes of its fields; only this one is computed. The functions are in the order of
            /// the variants.
            #[allow(dead_code)]
            #[track_caller]
            #vis fn match_<Found: #class, #(#branches: #library::ToExp<Found>),*>(
                self,
                #(#cases: impl ::core::ops::FnOnce #arguments -> #branches),*
            ) -> #library::Exp<Found> {
                #chosen
            }
        }
        #to_exp

        #[automatically_derived]
        impl #impl_generics #class for #name #ty_generics #where_clause {
            #shared
            fn to_scalars(&self, out: &mut #library::Scalars) {
                match self {
                    #(#to_scalars)*
                }
            }
            #[allow(unused_variables)]
            fn from_scalars(
                scalars: &mut dyn ::core::iter::Iterator<Item = #library::Scalar>,
            ) -> ::core::option::Option<Self> {
                let tag = <u8 as #class>::from_scalars(scalars)?;
                #(#reads)*
                ::core::option::Option::Some(match tag {
                    #(#numbers => #values,)*
                    #(0 if #present => #values,)*
                    0 => #last,
                    _ => return ::core::option::Option::None,
                })
            }
        }
    })
}
