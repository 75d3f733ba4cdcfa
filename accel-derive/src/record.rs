//! Parses the user's record: visibility, name, parameters, fields and options.

use proc_macro2::Span;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Generics, Ident, Member, Path, Result, Type, Visibility, parse_quote};

/// A struct with at least one field.
pub struct Record {
    /// The visibility of the record.
    pub vis: Visibility,
    /// Its name.
    pub name: Ident,
    /// Its parameters, as written.
    pub generics: Generics,
    /// Its fields, in order.
    pub fields: Vec<Field>,
    /// Whether the fields have names.
    pub named: bool,
    /// The path of the library in the user's crate.
    pub library: Path,
}

/// One field of a record.
pub struct Field {
    /// Its visibility.
    pub vis: Visibility,
    /// Its name or number.
    pub member: Member,
    /// Its type.
    pub ty: Type,
}

impl Record {
    /// Reads the input of `#[derive(macro_name)]`.
    ///
    /// Errors point at the wrong part: an enum, a union, a struct without fields, a lifetime parameter, an unknown
    /// option.
    pub fn parse(input: DeriveInput, macro_name: &str) -> Result<Record> {
        let library = library(&input)?;
        no_lifetimes(&input, macro_name)?;
        let data = match input.data {
            Data::Struct(data) => data,
            Data::Enum(data) => {
                return Err(Error::new(
                    data.enum_token.span,
                    format!("`{macro_name}` cannot be derived for an enum: only structs have a fixed list of fields"),
                ));
            }
            Data::Union(data) => {
                return Err(Error::new(
                    data.union_token.span,
                    format!("`{macro_name}` cannot be derived for a union: only structs have a fixed list of fields"),
                ));
            }
        };
        let named = matches!(data.fields, syn::Fields::Named(_));
        let fields: Vec<Field> = data
            .fields
            .into_iter()
            .enumerate()
            .map(|(i, field)| Field {
                vis: field.vis,
                member: field.ident.map_or(Member::from(i), Member::from),
                ty: field.ty,
            })
            .collect();
        if fields.is_empty() {
            return Err(Error::new(
                input.ident.span(),
                format!("`{macro_name}` cannot be derived for a struct without fields: use `()`"),
            ));
        }
        Ok(Record { vis: input.vis, name: input.ident, generics: input.generics, fields, named, library })
    }

    /// The parameters, with the bound that every field's type implements `bound`. Without type parameters there is no
    /// such bound: rustc then checks the type of the field itself and points at it.
    pub fn bounded_generics(&self, bound: &Path) -> Generics {
        let mut generics = self.generics.clone();
        if generics.type_params().next().is_some() {
            let clause = generics.make_where_clause();
            for field in &self.fields {
                let ty = &field.ty;
                clause.predicates.push(parse_quote!(#ty: #bound));
            }
        }
        generics
    }

    /// The record's name with `suffix`, at the source location of the name.
    pub fn companion(&self, suffix: &str) -> Ident {
        Ident::new(&format!("{}{suffix}", self.name), self.name.span())
    }
}

/// An error for a type with lifetimes.
pub fn no_lifetimes(input: &DeriveInput, macro_name: &str) -> Result<()> {
    input.generics.lifetimes().next().map_or(Ok(()), |lifetime| {
        let message =
            format!("`{macro_name}` cannot be derived for a type that borrows: its values must own their data");
        Err(Error::new_spanned(lifetime, message))
    })
}

/// The path in `#[accel(crate = path)]`, or `::accel`.
pub fn library(input: &DeriveInput) -> Result<Path> {
    let mut library: Path = parse_quote!(::accel);
    for attr in &input.attrs {
        if attr.path().is_ident("accel") {
            attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    library = meta.value()?.parse()?;
                    Ok(())
                } else {
                    let found = &meta.path;
                    let found = quote!(#found);
                    Err(meta.error(format!("unknown option `{found}`: expected `crate = path`")))
                }
            })?;
        }
    }
    Ok(library)
}

/// The name or number of a field as text.
pub fn label(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(at) => at.index.to_string(),
    }
}

/// An identifier with a name chosen here.
pub fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
