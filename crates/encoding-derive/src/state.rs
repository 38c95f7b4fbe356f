//! The derive of `State`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, LitStr, Member, Path, Result, Token,
    WherePredicate, parse_quote,
};

use crate::bounds;

/// How a field is saved.
enum SaveMode {
    /// It follows from the plan.
    Constant,
    /// As a whole.
    Record,
    /// As a list of fixed length.
    Records,
    /// By its own `State`.
    Part,
    /// By the functions of a module.
    With(Path),
}

pub(crate) fn implement(item: DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        let message = "expected a struct, found an enum or a union";
        return Err(Error::new_spanned(&item.ident, message));
    };
    let mut generics = item.generics;
    let added = added_bounds(&item.attrs)?;
    if !added.is_empty() {
        generics.make_where_clause().predicates.extend(added);
    }
    let (mut saves, mut restores) = (vec![], vec![]);
    for (field, member) in data.fields.iter().zip(data.fields.members()) {
        let mode = mode(field)?;
        if let Some(required) = mode.required() {
            bounds::require(&mut generics, &field.ty, &required);
        }
        let (save, restore) = mode.statements(field, &member);
        saves.push(save);
        restores.push(restore);
    }
    let (name, (generics, arguments, bounds)) = (&item.ident, generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #generics ::netloom_encoding::State for #name #arguments #bounds {
            fn save(&self, out: &mut ::std::vec::Vec<u8>) {
                #(#saves)*
            }

            fn restore(&mut self, from: &mut &[u8]) -> ::std::option::Option<()> {
                #(#restores)*
                Some(())
            }
        }
    })
}

impl SaveMode {
    /// Returns the trait that the type of the field must have.
    fn required(&self) -> Option<Path> {
        match self {
            SaveMode::Record => Some(parse_quote!(::netloom_encoding::Encoded)),
            SaveMode::Part => Some(parse_quote!(::netloom_encoding::State)),
            SaveMode::Constant | SaveMode::Records | SaveMode::With(_) => None,
        }
    }

    /// Returns the statements that save and restore a field.
    fn statements(&self, field: &Field, member: &Member) -> (TokenStream, TokenStream) {
        let encoding = quote_spanned!(field.ty.span()=> ::netloom_encoding);
        match self {
            SaveMode::Constant => (quote!(), quote!()),
            SaveMode::Record => (
                quote!(#encoding::Encoded::put(&self.#member, out);),
                quote!(self.#member = #encoding::Encoded::take(from)?;),
            ),
            SaveMode::Records => (
                quote!(#encoding::save_records(AsRef::<[_]>::as_ref(&self.#member), out);),
                quote! {
                    #encoding::restore_records(AsMut::<[_]>::as_mut(&mut self.#member), from)?;
                },
            ),
            SaveMode::Part => (
                quote!(#encoding::State::save(&self.#member, out);),
                quote!(#encoding::State::restore(&mut self.#member, from)?;),
            ),
            SaveMode::With(module) => (
                quote!(#module::save(&self.#member, out);),
                quote!(#module::restore(&mut self.#member, from)?;),
            ),
        }
    }
}

fn is_state(attribute: &&Attribute) -> bool {
    attribute.path().is_ident("state")
}

/// Reads the attribute of a field.
fn mode(field: &Field) -> Result<SaveMode> {
    let mut mode = None;
    for attribute in field.attrs.iter().filter(is_state) {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string);
            let given = match name.as_deref() {
                Some("constant") => SaveMode::Constant,
                Some("records") => SaveMode::Records,
                Some("part") => SaveMode::Part,
                Some("with") => {
                    let module: LitStr = meta.value()?.parse()?;
                    SaveMode::With(module.parse_with(Path::parse_mod_style)?)
                }
                _ => {
                    let message = "expected `constant`, `records`, `part` or `with`";
                    return Err(found(&meta.path, message));
                }
            };
            match mode.replace(given) {
                None => Ok(()),
                Some(_) => Err(meta.error("expected one way to save the field, found two")),
            }
        })?;
    }
    Ok(mode.unwrap_or(SaveMode::Record))
}

/// Reads the attribute of a struct.
fn added_bounds(attributes: &[Attribute]) -> Result<Punctuated<WherePredicate, Token![,]>> {
    let mut bounds = Punctuated::new();
    for attribute in attributes.iter().filter(is_state) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("bound") {
                return Err(found(&meta.path, "expected `bound`"));
            }
            let text: LitStr = meta.value()?.parse()?;
            bounds.extend(
                text.parse_with(Punctuated::<WherePredicate, Token![,]>::parse_terminated)?,
            );
            Ok(())
        })?;
    }
    Ok(bounds)
}

fn found(path: &Path, expected: &str) -> Error {
    let message = format!("{expected}, found `{}`", quote!(#path));
    Error::new_spanned(path, message)
}
