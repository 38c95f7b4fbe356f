//! The derives of `netloom-encoding`, which re-exports them with their traits.
//!
//! A derive reads the fields from the definition of a type, so no field is listed twice. Examples
//! are at the traits. A generic type that contains itself is not supported.

mod bounds;
mod encoded;
mod state;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use syn::{DeriveInput, parse_macro_input};

/// Derives `Encoded` for a struct or an enum: the fields in the order of their declaration.
///
/// An enum starts with the number of its variant, one byte. Variants are numbered from 0 in the
/// order of their declaration.
#[proc_macro_derive(Encoded)]
pub fn derive_encoded(item: TokenStream) -> TokenStream {
    derive(parse_macro_input!(item), encoded::implement)
}

/// Derives `State` for a struct: the fields in the order of their declaration.
///
/// A field without an attribute is a record (`Encoded`) that changes. The attribute `state` of a
/// field states another way:
///
/// - `#[state(constant)]`: The field follows from the plan. It is not saved.
/// - `#[state(records)]`: The field is a list of records of fixed length (`AsRef<[T]>` and
///   `AsMut<[T]>`). Its length must fit.
/// - `#[state(part)]`: The field has a `State` of its own.
/// - `#[state(with = "module")]`: The functions `save` and `restore` of a module save it.
///
/// The attribute `#[state(bound = "T: Trait")]` of the struct adds bounds for type parameters. The
/// functions of a module may need them.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    derive(parse_macro_input!(item), state::implement)
}

fn derive(item: DeriveInput, implement: fn(DeriveInput) -> syn::Result<Tokens>) -> TokenStream {
    let implemented = implement(item);
    implemented
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
