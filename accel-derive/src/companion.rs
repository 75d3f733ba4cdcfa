//! Generates the companion struct of a record: the same fields in the form that they have inside a program.
//!
//! `struct Complex { re: f64, im: f64 }` gets `struct ComplexExp { re: Exp<f64>, im: Exp<f64> }`. The representation of
//! a record consists of the left-nested pairs of its fields, so a program on records is a program on nested tuples with
//! another type. The generated code takes and builds tuples, and only changes the type of the handle.

use crate::record::{Field, Record, ident};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Ident, Path, parse_quote};

/// The two layers of the language, and their names for corresponding items.
pub struct Layer {
    /// `Elt` or `Arrays`: the trait to derive, which is also an associated type of `into`.
    pub class: &'static str,
    /// `Exp` or `Acc`: the handle, which is also an associated type of `class` and the suffix of the companion.
    pub handle: &'static str,
    /// `IntoExp` or `IntoAcc`.
    pub into: &'static str,
    /// The name of the method of `into`.
    pub into_method: &'static str,
    /// The function that changes the type of a handle to another type with the same representation.
    pub retype: &'static str,
    /// The function that takes the type away from a handle.
    pub untyped: &'static str,
    /// The description of a companion's field, for its documentation.
    pub what: &'static str,
}

/// The scalar layer: elements and tuples of them.
pub const ELEMENTS: Layer = Layer {
    class: "Elt",
    handle: "Exp",
    into: "IntoExp",
    into_method: "into_exp",
    retype: "retype_exp",
    untyped: "handle_of_exp",
    what: "scalar expressions",
};

/// The array layer: arrays and tuples of them.
pub const ARRAYS: Layer = Layer {
    class: "Arrays",
    handle: "Acc",
    into: "IntoAcc",
    into_method: "into_acc",
    retype: "retype_acc",
    untyped: "handle_of_acc",
    what: "array computations",
};

/// A record for which a trait of one layer is derived.
pub struct Companion<'a> {
    /// The record.
    pub record: &'a Record,
    /// The layer.
    pub layer: &'a Layer,
    /// The path at which the generated code finds the library's items.
    pub library: Path,
    /// The trait to derive.
    pub class: Path,
    /// The generic parameters with their bounds.
    pub generics: Generics,
    /// The name of the companion struct.
    pub name: Ident,
    handle: Ident,
    into: Path,
}

impl<'a> Companion<'a> {
    /// Computes the names.
    pub fn new(record: &'a Record, layer: &'a Layer) -> Companion<'a> {
        let root = &record.library;
        let library: Path = parse_quote!(#root::__private);
        let (class, handle, into) = (ident(layer.class), ident(layer.handle), ident(layer.into));
        let class: Path = parse_quote!(#library::#class);
        Companion {
            record,
            layer,
            generics: record.bounded_generics(&class),
            name: record.companion(layer.handle),
            into: parse_quote!(#library::#into),
            class,
            handle,
            library,
        }
    }

    /// Generates the companion struct, which is `Copy`, and its conversion to a handle.
    pub fn definition(&self) -> TokenStream {
        let Companion { record, layer, library, generics, name, handle, into, .. } = self;
        let (vis, original) = (&record.vis, &record.name);
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        let doc = format!("The fields of [`{original}`] as {}, inside a program.", layer.what);
        let fields = record.fields.iter().map(|field| {
            let (vis, ty) = (&field.vis, self.inside(field));
            let doc = format!("The field `{}` of [`{original}`].", field.member.to_token_stream());
            let member = field.member.clone();
            match member {
                syn::Member::Named(name) => quote!(#[doc = #doc] #vis #name: #ty),
                syn::Member::Unnamed(_) => quote!(#[doc = #doc] #vis #ty),
            }
        });
        let definition = if record.named {
            quote!(#vis struct #name #generics #where_clause { #(#fields),* })
        } else {
            quote!(#vis struct #name #generics ( #(#fields),* ) #where_clause;)
        };
        let (class, into_method) = (ident(layer.class), ident(layer.into_method));
        let tuple = self.nest(|field| {
            let member = &field.member;
            quote!(self.#member)
        });
        let (retype, untyped) = (ident(layer.retype), ident(layer.untyped));
        let nested = self.nested_type();
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #definition

            #[automatically_derived]
            impl #impl_generics ::core::clone::Clone for #name #ty_generics #where_clause {
                fn clone(&self) -> Self {
                    *self
                }
            }

            #[automatically_derived]
            impl #impl_generics ::core::marker::Copy for #name #ty_generics #where_clause {}

            #[automatically_derived]
            impl #impl_generics #into for #name #ty_generics #where_clause {
                type #class = #original #ty_generics;
                #[track_caller]
                fn #into_method(self) -> #library::#handle<#original #ty_generics> {
                    #library::#retype::<#nested, _>(#into::#into_method(#tuple))
                }
            }

            #[automatically_derived]
            impl #impl_generics #library::Tangent<#name #ty_generics> for #name #ty_generics #where_clause {
                #[track_caller]
                fn into_handle(self) -> #library::Handle {
                    #library::#untyped(#into::#into_method(self))
                }
            }
        }
    }

    /// Generates the conversion of a companion for scalar code, where its type is known in advance.
    pub fn to_exp(&self) -> TokenStream {
        let Companion { record, library, generics, name, .. } = self;
        let original = &record.name;
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #impl_generics #library::ToExp<#original #ty_generics> for #name #ty_generics #where_clause {
                #[track_caller]
                fn to_exp(self) -> #library::Exp<#original #ty_generics> {
                    #library::IntoExp::into_exp(self)
                }
            }
        }
    }

    /// Generates the items of the trait's implementation that both layers share: the representation, the companion and
    /// `unlift`.
    pub fn shared_items(&self) -> TokenStream {
        let Companion { record, layer, library, class, name, handle, .. } = self;
        let (_, ty_generics, _) = self.generics.split_for_impl();
        let representation = self.nest(|field| {
            let ty = &field.ty;
            quote_spanned!(ty.span()=> <#ty as #class>::Repr)
        });
        let retype = ident(layer.retype);
        let nested = self.nested_type();
        let pattern = self.nest(|field| self.binding(field).to_token_stream());
        let members = record.fields.iter().map(|field| {
            let (member, binding) = (&field.member, self.binding(field));
            quote!(#member: #binding)
        });
        quote! {
            type Repr = #representation;
            type #handle = #name #ty_generics;
            #[track_caller]
            fn unlift(handle: #library::#handle<Self>) -> Self::#handle {
                let #pattern = <#nested as #class>::unlift(#library::#retype(handle));
                #name { #(#members),* }
            }
        }
    }

    /// The variable for a field.
    pub fn binding(&self, field: &Field) -> Ident {
        format_ident!("field_{}", field.member)
    }

    /// The types of the fields as nested pairs.
    pub fn nested_type(&self) -> TokenStream {
        self.nest(|field| field.ty.to_token_stream())
    }

    /// The lists of the fields: a tuple, as long as there is one of this length.
    pub fn lists(&self, listed: &Path) -> TokenStream {
        let list = |field: &Field| {
            let ty = &field.ty;
            quote_spanned!(ty.span()=> <#ty as #listed>::List)
        };
        match self.record.fields.len() {
            2..=12 => {
                let lists = self.record.fields.iter().map(list);
                quote!((#(#lists),*))
            }
            _ => self.nest(list),
        }
    }

    /// `((a, b), c)` of the results of `part` for the fields; a single field gives only its own result.
    pub fn nest(&self, part: impl Fn(&Field) -> TokenStream) -> TokenStream {
        let parts = self.record.fields.iter().map(part);
        parts.reduce(|left, right| quote!((#left, #right))).unwrap_or_default()
    }

    /// The type of a field in the companion. Its source location is the location of the field, so that rustc points
    /// there if the type does not belong to the class.
    fn inside(&self, field: &Field) -> TokenStream {
        let (ty, class, handle) = (&field.ty, &self.class, &self.handle);
        quote_spanned!(ty.span()=> <#ty as #class>::#handle)
    }
}
