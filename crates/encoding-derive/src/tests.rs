use syn::{DeriveInput, parse_quote};

use crate::{encoded, state};

/// Returns an implementation, without spaces.
fn state_of(item: DeriveInput) -> String {
    let implemented = state::implement(item).expect("a struct with valid attributes");
    implemented.to_string().replace(' ', "")
}

fn state_error(item: DeriveInput) -> String {
    state::implement(item).unwrap_err().to_string()
}

#[test]
fn types_that_depend_on_a_parameter_are_bounded() {
    let implemented = state_of(parse_quote! {
        #[state(bound = "A: Arbiter")]
        struct Port<A, F: Flow = Plain, const W: usize = 1> {
            until: u64,
            woken: Mask<W>,
            flow: Option<F::Credit>,
            #[state(part)]
            ports: Vec<F>,
            #[state(constant)]
            plan: Plan<F>,
            #[state(with = "arbiters::state")]
            arbiter: A,
        }
    });
    let start = "impl<A,F:Flow,constW:usize>::netloom_encoding::StateforPort<A,F,W>whereA:Arbiter,\
                 Option<F::Credit>:::netloom_encoding::Encoded,Vec<F>:::netloom_encoding::State{";
    assert!(implemented.contains(start), "{implemented}");
    assert!(implemented.contains("arbiters::state::restore(&mutself.arbiter,from)?;"));
    assert!(!implemented.contains("plan"));
}

#[test]
fn wrong_attributes_are_refused() {
    let error = state_error(parse_quote! {
        struct Port { #[state(constants)] number: u16 }
    });
    let expected = "expected `constant`, `records`, `part` or `with`, found `constants`";
    assert_eq!(error, expected);
    let error = state_error(parse_quote! {
        struct Port { #[state(part, records)] queues: Vec<Queue> }
    });
    assert_eq!(error, "expected one way to save the field, found two");
    let error = state_error(parse_quote! {
        #[state(bounds = "A: Arbiter")]
        struct Port<A> { arbiter: A }
    });
    assert_eq!(error, "expected `bound`, found `bounds`");
}

#[test]
fn other_items_are_refused() {
    let error = state_error(parse_quote!(
        enum Step {
            Stay,
        }
    ));
    assert_eq!(error, "expected a struct, found an enum or a union");
    let union: DeriveInput = parse_quote!(
        union Word {
            whole: u64,
            half: u32,
        }
    );
    let error = encoded::implement(union).unwrap_err().to_string();
    assert_eq!(error, "expected a struct or an enum, found a union");
}
