//! The derive of `Encoded`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Member, Result, parse_quote};

use crate::bounds;

pub(crate) fn implement(item: DeriveInput) -> Result<TokenStream> {
    let mut generics = item.generics;
    let (put, take) = match &item.data {
        Data::Struct(data) => {
            let put = put(&data.fields, |member, _| quote!(&self.#member));
            let take = take(quote!(Self), &data.fields);
            (put, quote!(Some(#take)))
        }
        Data::Enum(data) => variants(data)?,
        Data::Union(data) => {
            let message = "expected a struct or an enum, found a union";
            return Err(Error::new(data.union_token.span, message));
        }
    };
    for field in fields(&item.data) {
        let encoded = parse_quote!(::netloom_encoding::Encoded);
        bounds::require(&mut generics, &field.ty, &encoded);
    }
    let (name, (generics, arguments, bounds)) = (&item.ident, generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #generics ::netloom_encoding::Encoded for #name #arguments #bounds {
            #[inline]
            fn put(&self, out: &mut ::std::vec::Vec<u8>) {
                #put
            }

            #[inline]
            fn take(from: &mut &[u8]) -> ::std::option::Option<Self> {
                #take
            }
        }
    })
}

/// Returns the fields of all variants.
fn fields(data: &Data) -> Vec<&syn::Field> {
    match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|of| &of.fields).collect(),
        Data::Union(_) => vec![],
    }
}

/// Returns statements that encode each field. `value` is a reference to a field.
fn put(fields: &Fields, value: impl Fn(&Member, usize) -> TokenStream) -> TokenStream {
    let members = fields.iter().zip(fields.members()).enumerate();
    let each = members.map(|(at, (field, member))| {
        let put = quote_spanned!(field.ty.span()=> ::netloom_encoding::Encoded::put);
        let value = value(&member, at);
        quote!(#put(#value, out);)
    });
    quote!(#(#each)*)
}

/// Returns an expression that decodes each field.
fn take(name: TokenStream, fields: &Fields) -> TokenStream {
    let each = fields.iter().zip(fields.members()).map(|(field, member)| {
        let take = quote_spanned!(field.ty.span()=> ::netloom_encoding::Encoded::take);
        quote!(#member: #take(from)?)
    });
    quote!(#name { #(#each),* })
}

/// Returns the bodies of both functions for an enum.
fn variants(data: &DataEnum) -> Result<(TokenStream, TokenStream)> {
    let (mut puts, mut takes) = (vec![], vec![]);
    for (at, variant) in data.variants.iter().enumerate() {
        let number = u8::try_from(at).map_err(|_| {
            Error::new_spanned(variant, "expected at most 256 variants, found more")
        })?;
        let name = &variant.ident;
        let members = variant.fields.members();
        // Numbered, so that no name of a field is that of a parameter.
        let binding = |at: usize| format_ident!("field_{at}");
        let bindings = (0..variant.fields.len()).map(binding);
        let put = put(&variant.fields, |_, at| {
            let binding = binding(at);
            quote!(#binding)
        });
        puts.push(quote!(Self::#name { #(#members: #bindings),* } => { out.push(#number); #put }));
        let take = take(quote!(Self::#name), &variant.fields);
        takes.push(quote!(#number => Some(#take),));
    }
    let put = quote!(match self { #(#puts)* });
    let take = quote! {
        match <u8 as ::netloom_encoding::Encoded>::take(from)? {
            #(#takes)*
            _ => None,
        }
    };
    Ok((put, take))
}
