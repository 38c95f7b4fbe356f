//! Bounds of derived implementations.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Generics, Path, Type, parse_quote};

/// Requires a trait of a type of a field, if the type depends on a type parameter.
pub(crate) fn require(generics: &mut Generics, field: &Type, of_trait: &Path) {
    let parameters: Vec<Ident> = generics.type_params().map(|of| of.ident.clone()).collect();
    if names_any(field.to_token_stream(), &parameters) {
        let bounds = generics.make_where_clause();
        bounds.predicates.push(parse_quote!(#field: #of_trait));
    }
}

fn names_any(tokens: TokenStream, names: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => names.contains(&name),
        TokenTree::Group(group) => names_any(group.stream(), names),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
