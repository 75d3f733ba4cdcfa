//! Derive macros for element and array records of the accel language, and for structures of numbers that are differentiated.
//!
//! The generated code refers to the library as `::accel`. Where it has another name, write
//! `#[accel(crate = path)]` next to the derive.

mod companion;
mod record;
mod structure;
mod variants;

use companion::{ARRAYS, Companion, ELEMENTS};
use proc_macro2::TokenStream;
use quote::quote;
use record::Record;
use syn::{Data, DeriveInput, Result, parse_macro_input};

/// Makes a struct of elements an element type, so that arrays can contain it: `#[derive(Clone, Elt)] struct Complex {
/// re: f64, im: f64 }`.
///
/// It also defines the companion for scalar code, `ComplexExp`, with the same fields as expressions (`re: Exp<f64>`).
/// The companion is `Copy`; closures get it as their argument and may return it. An array of records is stored as one
/// column for each scalar, like an array of tuples. Type parameters are allowed if every field is an element.
///
/// An enum of elements is an element, too: `enum Shape { Circle(f64), Box { width: f64, height: f64 } }`. Its companion has a function for
/// each variant, `ShapeExp::circle(2.0)`, and `match_`, which takes a function of the fields of each variant, in their order:
/// `shape.match_(|radius| .., |width, height| ..)`. An array of enums has columns for the fields of all variants. Derivatives are those of the
/// variant that is there; in a gradient, the variant is the first one with a field that is not 0.
///
/// Errors: unions, structs without fields, enums without variants and types with lifetimes are rejected. For a field that is not an
/// element, rustc reports an error at the type of the field.
#[proc_macro_derive(Elt, attributes(accel))]
pub fn derive_elt(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    elt(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of arrays a possible argument or result of a program: `#[derive(Clone, Arrays)] struct Model {
/// weights: Matrix<f32>, bias: Vector<f32> }`.
///
/// It also defines the companion for array code, `ModelAcc`, with the same fields as array computations (`bias:
/// Acc<Vector<f32>>`). The companion is `Copy`. Type parameters are allowed if every field is an array or a tuple of
/// arrays.
///
/// Errors: the same as for `Elt`.
#[proc_macro_derive(Arrays, attributes(accel))]
pub fn derive_arrays(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    arrays(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum that contains numbers an input or a result of functions that are differentiated:
/// `#[derive(Differentiable)] struct Spring<T> { stiffness: T, ends: [T; 2], name: String }`.
///
/// The type of the numbers is the type parameter; where there are several, `#[differentiable(scalar = T)]` chooses one.
/// Fields are numbers, structures of numbers, and discrete values such as integers. A field of any other type that can be
/// cloned is discrete with `#[differentiable(discrete)]`. Fields of the types `Box<..>` and `Option<Box<..>>` are allowed, so
/// lists and trees are.
///
/// The generated code refers to the library as `::accel::dual`. Where it has another name, write
/// `#[differentiable(crate = path)]` next to the derive.
///
/// Errors: unions, enums without variants and fields of the types `f32` and `f64` are rejected. For a field that is no
/// structure of numbers, rustc reports an error at the type of the field.
#[proc_macro_derive(Differentiable, attributes(differentiable))]
pub fn derive_differentiable(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    structure::derive(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn elt(input: DeriveInput) -> Result<TokenStream> {
    if let Data::Enum(data) = &input.data {
        return variants::elt(&input, data);
    }
    let record = Record::parse(input, "Elt")?;
    let companion = Companion::new(&record, &ELEMENTS);
    let Companion { library, class, generics, .. } = &companion;
    let (definition, to_exp, shared) = (companion.definition(), companion.to_exp(), companion.shared_items());
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let name = &record.name;
    let members: Vec<_> = record.fields.iter().map(|f| &f.member).collect();
    let types: Vec<_> = record.fields.iter().map(|f| &f.ty).collect();
    Ok(quote! {
        #definition
        #to_exp

        #[automatically_derived]
        impl #impl_generics #class for #name #ty_generics #where_clause {
            #shared
            fn to_scalars(&self, out: &mut #library::Scalars) {
                #(<#types as #class>::to_scalars(&self.#members, out);)*
            }
            fn from_scalars(
                scalars: &mut dyn ::core::iter::Iterator<Item = #library::Scalar>,
            ) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(#name {
                    #(#members: <#types as #class>::from_scalars(scalars)?,)*
                })
            }
        }
    })
}

fn arrays(input: DeriveInput) -> Result<TokenStream> {
    let record = Record::parse(input, "Arrays")?;
    let companion = Companion::new(&record, &ARRAYS);
    let Companion { library, class, generics, .. } = &companion;
    let (definition, shared) = (companion.definition(), companion.shared_items());
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let listed: syn::Path = syn::parse_quote!(#library::Listed);
    let listed_generics = record.bounded_generics(&listed);
    let (_, _, listed_where) = listed_generics.split_for_impl();
    let list = companion.lists(&listed);
    let name = &record.name;
    let nested = companion.nested_type();
    let pattern = companion.nest(|field| {
        let binding = companion.binding(field);
        quote!(#binding)
    });
    let members: Vec<_> = record.fields.iter().map(|f| &f.member).collect();
    let names: Vec<String> = members.iter().map(|member| record::label(member)).collect();
    let bindings: Vec<_> = record.fields.iter().map(|f| companion.binding(f)).collect();
    let types: Vec<_> = record.fields.iter().map(|f| &f.ty).collect();
    let tuple = types
        .iter()
        .zip(&members)
        .map(|(ty, member)| quote!(<#ty as #class>::to_tuple(&self.#member)))
        .reduce(|left, right| quote!(#library::ArrayTuple::pair(#left, #right)));
    Ok(quote! {
        #definition

        #[automatically_derived]
        impl #impl_generics #class for #name #ty_generics #where_clause {
            #shared
            fn to_tuple(&self) -> #library::ArrayTuple {
                #tuple
            }
            fn views<'views>(&'views self, to: &mut #library::Views<'views>) {
                #(<#types as #class>::views(&self.#members, to);)*
            }
            fn views_mut<'views>(&'views mut self, to: &mut #library::ViewsMut<'views>) {
                #(<#types as #class>::views_mut(&mut self.#members, to);)*
            }
            fn names(within: &str, to: &mut ::std::vec::Vec<::std::string::String>) {
                #(<#types as #class>::names(&#library::name_of_part(within, #names), to);)*
            }
            fn from_tuple(tuple: #library::ArrayTuple) -> #library::Result<Self> {
                let #pattern = <#nested as #class>::from_tuple(tuple)?;
                ::core::result::Result::Ok(#name { #(#members: #bindings),* })
            }
        }

        #[automatically_derived]
        impl #impl_generics #listed for #name #ty_generics #listed_where {
            type List = #list;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    /// The message of the error.
    fn error(input: DeriveInput) -> String {
        elt(input).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_a_record_is_rejected_with_a_reason() {
        let e = error(parse_quote!(
            enum E {}
        ));
        assert!(e.contains("an enum of 1 to 255 variants"), "{e}");
        let e = error(parse_quote!(
            union U {
                a: f64,
                b: i64,
            }
        ));
        assert!(e.contains("cannot be derived for a union"), "{e}");
        for empty in [
            parse_quote!(
                struct S;
            ),
            parse_quote!(
                struct S {}
            ),
            parse_quote!(
                struct S();
            ),
        ] {
            let e = error(empty);
            assert!(e.contains("without fields"), "{e}");
        }
        let e = error(parse_quote!(
            struct B<'a> {
                x: &'a f64,
            }
        ));
        assert!(e.contains("borrows"), "{e}");
        let e = error(parse_quote!(
            #[accel(create = foo)]
            struct B {
                x: f64,
            }
        ));
        assert!(e.contains("unknown option `create`"), "{e}");
        let e = arrays(parse_quote!(
            enum E {}
        ))
        .unwrap_err()
        .to_string();
        assert!(e.starts_with("`Arrays` cannot be derived"), "{e}");
    }

    #[test]
    fn generated_code_uses_the_path_the_user_gives() {
        let input: DeriveInput = parse_quote!(
            #[accel(crate = renamed::path)]
            struct B {
                x: f64,
                y: i32,
            }
        );
        let code = elt(input).unwrap().to_string();
        assert!(code.contains("renamed :: path :: __private :: Elt"), "{code}");
        assert!(!code.contains(":: accel ::"), "{code}");
    }

    #[test]
    fn fields_nest_to_the_left() {
        let input: DeriveInput = parse_quote!(
            struct R(A, B, C);
        );
        let record = Record::parse(input, "Elt").unwrap();
        let nested = Companion::new(&record, &ELEMENTS).nested_type();
        assert_eq!(nested.to_string(), "((A , B) , C)");
    }

    #[test]
    fn structures_that_are_not_differentiable_are_rejected_with_a_reason() {
        let error = |input: DeriveInput| structure::derive(input).unwrap_err().to_string();
        let e = error(parse_quote!(
            union U<T> {
                a: T,
                b: i64,
            }
        ));
        assert!(e.contains("cannot be derived for a union"), "{e}");
        let e = error(parse_quote!(
            enum E {}
        ));
        assert!(e.contains("enum without variants"), "{e}");
        let e = error(parse_quote!(
            struct P {
                x: f64,
            }
        ));
        assert!(e.contains("found `f64`") && e.contains("#[differentiable(discrete)]"), "{e}");
        let e = error(parse_quote!(
            struct P<A, B>(A, B);
        ));
        assert!(e.contains("#[differentiable(scalar = T)]"), "{e}");
        let e = error(parse_quote!(
            #[differentiable(scalar = C)]
            struct P<A, B>(A, B);
        ));
        assert!(e.contains("`C` is not a type parameter"), "{e}");
        let e = error(parse_quote!(
            struct P<T> {
                #[differentiable(constant)]
                x: T,
            }
        ));
        assert!(e.contains("unknown option `constant`"), "{e}");
        let e = error(parse_quote!(
            #[differentiable(library = foo)]
            struct P<T>(T);
        ));
        assert!(e.contains("unknown option `library`"), "{e}");
    }
}
