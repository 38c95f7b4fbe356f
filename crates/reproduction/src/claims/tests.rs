//! Formulas on small results, mistakes in files, and the files of the papers.

use netloom_results::{ClassSummary, Frame, HostLine, Summary, Table as _};

use super::*;
use crate::{Outcome, Run};

/// Returns results of series `a` with these latencies by seed, at two loads, and hosts.
fn results(latencies: &[f64]) -> Results {
    let outcome = |load: f64, (n, latency): (usize, &f64)| {
        let seed = n as u64 + 1;
        let class = |name: &str, latency_mean_ns| ClassSummary {
            class: name.to_owned(),
            sl: 0,
            asked_load: Some(load),
            summary: Summary {
                offered_load: 0.5,
                delivered_load: 0.25,
                latency_mean_ns,
                ..Summary::default()
            },
        };
        let mut hosts = Frame::of::<HostLine>();
        for (at, load) in [0.1, 0.2, 0.4].into_iter().enumerate() {
            let line = HostLine {
                class: "x".to_owned(),
                host: format!("h{at}"),
                injected_load: load,
                ..HostLine::default()
            };
            hosts.push(line.data());
        }
        let classes = vec![class("x", Some(latency * load)), class("y", None)];
        Outcome {
            run: Run {
                series: "a".to_owned(),
                load,
                seed,
            },
            result: crate::results::made_up(seed, classes),
            tables: vec![("hosts".to_owned(), hosts)],
        }
    };
    let at = |load| {
        latencies
            .iter()
            .enumerate()
            .map(move |own| outcome(load, own))
    };
    Results {
        outcomes: at(1.0).chain(at(2.0)).collect(),
        lacking: vec![("b".to_owned(), 1.0)],
    }
}

/// Returns a file with a claim that holds if a formula does.
fn file(define: &str, holds: &str, measured: &str) -> String {
    format!(
        "title = \"t\"\n[define]\n{define}\n[[claim]]\nid = \"C1\"\ntier = \"O\"\n\
         statement = \"s\"\npaper = \"-\"\nband = \"b\"\nholds = '{holds}'\n\
         measured = '{measured}'\n"
    )
}

/// Returns a text with formulas, evaluated on results of three seeds.
fn text(define: &str, template: &str) -> String {
    let read = ClaimsFile::read("claims.toml", &file(define, "yes", template));
    let read = read.unwrap_or_else(|why| panic!("{why}"));
    read.claims[0].judge(&results(&[10.0, 11.0, 12.0])).measured
}

/// Returns the mistakes of a file.
fn mistakes(define: &str, holds: &str) -> String {
    ClaimsFile::read("claims.toml", &file(define, holds, "")).unwrap_err()
}

#[test]
fn formulas_have_the_usual_strength() {
    for (formula, expected) in [
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("-2 * (1 - 3)", "4"),
        ("1 < 2 and 2 < 1 or yes", "yes"),
        ("not (unsure and yes)", "unsure"),
        ("0.7 <= 0.8 <= 0.9", "yes"),
        ("2 in [1, 2] and \"c\" in [\"a\", \"b\"]", "no"),
        ("[1, 2, 3] * 2", "2, 4, 6"),
        (
            "[x * y for x in [1, 2] for y in [3, 4] if x < y - 1]",
            "3, 4, 8",
        ),
        ("[x - y for x, y in [5, 6], [1, 2]]", "4, 4"),
        ("({\"a\": 1, \"b\": 2})[\"b\"] + [7, 8][-1]", "10"),
        ("max([1, 5, 3]) - min(4, 2) + sum([])", "3"),
        ("argmax([1, 3, 3], [0, 1, 2])", "2"),
        ("argmin([2, 1, 1])", "1"),
        ("join([\"{x:.1}\" for x in [1, 2]], \" / \")", "1.0 / 2.0"),
        ("choose(1 > 2, missing(\"never\"), \"else\")", "else"),
        ("default(first([]), 9)", "9"),
        ("exists(1 / 0)", "no"),
        ("quantile([1, 2, 3, 4], 0.25)", "1.75"),
        ("unimodal([0, 1, 4, 4, 1])", "yes"),
        ("spearman([1, 2, 3], [2, 1, 3])", "0.5"),
        // Equal values share their mean rank: 4.5 / sqrt(4.5 x 5).
        ("round(1000 * spearman([3, 1, 3, 2], [4, 1, 3, 2]))", "949"),
        ("round(1000 * r_squared([0, 1, 2], [0, 1, 1]))", "750"),
        ("values(between({\"k\": 1}, 0, 1))", "mistake"),
    ] {
        let found = text("", &format!("{{{formula}}}"));
        assert!(found.starts_with(expected), "{formula}: {found}");
    }
    assert_eq!(text("", "{{x}} {1 / 3:.2} {0.5:+.1}"), "{x} 0.33 +0.5");
    assert_eq!(text("\"f(x, y)\" = 'x + y'\ny = 5", "{f(1, 2) + y}"), "8");
}

#[test]
fn functions_over_seeds_evaluate_their_argument_for_each_run() {
    let ns = "ns = 'result(\"a\", \"latency_mean_ns\", class = \"x\", load = 1)'\n\
              \"is_above(a, b)\" = 'above(a, b)'";
    for (formula, expected) in [
        ("mean(ns)", "11"),
        ("interval(ns, 1, \"ns\")", "11.0 ±2.5 ns"),
        ("seeds(2 * ns)", "20, 22, 24"),
        ("is_above(ns, ns - 1)", "yes"),
        ("above(ns, 11)", "no"),
        ("above(ns, 10)", "unsure"),
        ("exceeds(ns, 8)", "yes"),
        ("at_least(ns, ns)", "yes"),
        ("descending([ns + 1, ns, 3])", "yes"),
        ("intervals_above(ns, ns - 3)", "unsure"),
        ("mean(max([ns, 11]))", "11.333333333333334"),
        ("loads(\"a\")", "1, 2"),
        (
            "[mean(result(\"a\", \"latency_mean_ns\", class = \"x\", load = l)) for l in loads(\"a\")]",
            "11, 22",
        ),
        (
            "mean(result(\"a\", \"delivered_load\", class = \"x\") / result(\"a\", \"offered_load\", class = \"x\"))",
            "0.5",
        ),
        (
            "mean(median(lines(\"a\", \"hosts\", \"injected_load\", class = \"x\")))",
            "0.1999",
        ),
        ("mean(run(\"a\", \"classes[0].asked_load\", load = 2))", "2"),
        (
            "mean(sum(values(lines(\"a\", \"hosts\", \"injected_load\", by = \"class\"))))",
            "0.7",
        ),
        ("is_run(\"b\")", "yes"),
        ("is_run(\"c\")", "no"),
        ("either({\"p\": \"c\", \"s\": \"a\"}, \"p\", \"s\")", "s"),
    ] {
        let found = text(ns, &format!("{{{formula}}}"));
        assert!(found.starts_with(expected), "{formula}: {found}");
    }
    for (formula, why) in [
        (
            "mean(result(\"b\", \"latency_mean_ns\"))",
            "no results of b",
        ),
        (
            "mean(result(\"a\", \"latency_mean_ns\", class = \"y\"))",
            "no latency_mean_ns of class y in a",
        ),
        (
            "mean(result(\"a\", \"offered_load\", load = 3))",
            "no results of a at load 3",
        ),
        (
            "mean(run(\"a\", \"connections.established\"))",
            "no connections.established in a",
        ),
        ("loads(\"a\", from = 3)", "no results of a from load 3"),
        (
            "mean(len(lines(\"a\", \"series\", \"time_ns\")))",
            "no table series of a",
        ),
    ] {
        assert_eq!(text("", &format!("{{{formula}}}")), why);
    }
    // Of a series that was not run there is one value, not one for each seed without end.
    let missing = "{seeds(default(result(\"b\", \"offered_load\"), 3))}";
    assert_eq!(text("", missing), "3");
}

#[test]
fn an_order_takes_two_seeds() {
    let holds = "above(result(\"a\", \"latency_mean_ns\", class = \"x\", load = 1), 5)";
    let text = file("", holds, "m").replace("tier", "ordered = true\ntier");
    let claim = &ClaimsFile::read("claims.toml", &text).unwrap().claims[0];
    let verdict = |latencies: &[f64]| claim.judge(&results(latencies));
    assert_eq!(verdict(&[10.0]).verdict, Verdict::NotJudged);
    assert_eq!(verdict(&[10.0]).measured, format!("m; {TOO_FEW}"));
    assert_eq!(verdict(&[10.0, 10.0]).verdict, Verdict::Holds);
    assert_eq!(verdict(&[2.0, 9.0]).verdict, Verdict::Undecided);
    assert_eq!(verdict(&[2.0, 3.0]).verdict, Verdict::Misses);
    assert_eq!(verdict(&[]).verdict, Verdict::NotJudged);
}

/// A series that the size does not have, and one whose runs are missing.
#[test]
fn what_is_not_run_is_distinguished_from_what_is_not_judged() {
    let verdict = |holds: &str| {
        let read = ClaimsFile::read("claims.toml", &file("", holds, "m")).unwrap();
        read.claims[0].judge(&results(&[10.0])).verdict
    };
    let of = "\"delivered_load\", class = \"x\"";
    let mean = |series: &str| format!("mean(result(\"{series}\", {of})) > 0");
    assert_eq!(verdict(&mean("a")), Verdict::Holds);
    assert_eq!(verdict(&mean("b")), Verdict::NotRun);
    assert_eq!(verdict(&mean("c")), Verdict::NotJudged);
    assert_eq!(verdict("len(loads(\"b\")) > 0"), Verdict::NotRun);
    assert_eq!(verdict("mean(saturation(\"b\")) > 0"), Verdict::NotRun);
}

#[test]
fn a_restated_claim_keeps_its_old_verdict() {
    let mean = "mean(result(\"a\", \"latency_mean_ns\", class = \"x\", load = 1))";
    let more = format!(
        "quote = \"q {{n}}\"\nwhy = \"w\"\nerror = '{mean} / n - 1'\nwith = {{ n = 8 }}\n\
         was = {{ band = \"below {{n}}\", holds = '{mean} < n' }}\n"
    );
    let text = file("", &format!("{mean} > n"), "m") + &more;
    let read = ClaimsFile::read("claims.toml", &text).unwrap_or_else(|why| panic!("{why}"));
    let claim = &read.claims[0];
    let texts = (
        claim.quote.as_str(),
        claim.why.as_str(),
        claim.was.as_deref(),
    );
    assert_eq!(texts, ("q 8", "w", Some("below 8")));
    let found = claim.judge(&results(&[10.0]));
    assert_eq!(
        (found.verdict, found.was),
        (Verdict::Holds, Some(Verdict::Misses))
    );
    assert_eq!(found.error.as_deref(), Some("+25 %"));
    // The verdict of the check of a calibrated claim is kept.
    let text = format!("{text}calibrated = \"s\"\n");
    let found = ClaimsFile::read("claims.toml", &text).unwrap().claims[0].judge(&results(&[10.0]));
    assert_eq!(
        (found.verdict, found.check),
        (Verdict::Calibrated, Some(Verdict::Holds))
    );

    let several = text.replace("/ n - 1'", "* [1, 2] / 10 - 1'");
    let found =
        ClaimsFile::read("claims.toml", &several).unwrap().claims[0].judge(&results(&[9.9]));
    assert_eq!(found.error.as_deref(), Some("-1.0 to +98 %"));
    let wrong = text
        .replace("band = \"below {n}\", ", "")
        .replace("/ n - 1'", "/ m'");
    let wrong = wrong + "not-run = \"a law\"\n";
    let mistakes = ClaimsFile::read("claims.toml", &wrong).unwrap_err();
    for message in [
        "`band` of `was` is missing",
        "unknown name `m`",
        "`not-run` was replaced by `law`",
    ] {
        assert!(mistakes.contains(message), "{mistakes}");
    }
}

#[test]
fn claims_inherit_from_groups_and_lists() {
    let text = "title = \"t\"\n[readings]\nG1 = \"r\"\n[define]\nR = [\"G1\"]\n\
        [group.all]\ntier = \"Q\"\npaper = \"-\"\nreadings = \"R\"\nmeasured = '{n} {m}'\n\
        with = { m = 1 }\n\
        [group.one]\ngroup = \"all\"\nband = \"up to {m}\"\nholds = 'n <= m'\n\
        numbers = { 'n_{k}' = 'n + k for k in [1, 2]', 'none?' = 'first([])' }\n\
        [[claim]]\nid = \"C1\"\ngroup = \"one\"\nstatement = \"s\"\npart = \"{n}\"\n\
        each = [{ with = { n = 1 } }, { tier = \"E\", with = { n = 2 } }]\n\
        [[claim]]\nid = \"C2\"\ngroup = \"all\"\nstatement = \"s\"\nband = \"b\"\n\
        law = \"tests\"\n";
    let read = ClaimsFile::read("claims.toml", text).unwrap_or_else(|why| panic!("{why}"));
    let [one, two, law] = &read.claims[..] else {
        panic!("{:?}", read.claims.len());
    };
    assert_eq!(
        (one.part.as_str(), one.tier, two.tier),
        ("1", Tier::Q, Tier::E)
    );
    assert_eq!(
        (one.band.as_str(), one.readings.join(" ")),
        ("up to 1", "G1".to_owned())
    );
    let found = one.judge(&Results::default());
    assert_eq!(
        (found.verdict, found.measured.as_str()),
        (Verdict::Holds, "1 1")
    );
    let numbers = [("n_1".to_owned(), 2.0), ("n_2".to_owned(), 3.0)];
    assert_eq!(found.numbers, numbers);
    assert_eq!(two.judge(&Results::default()).verdict, Verdict::Misses);
    let found = Finding::without(Verdict::Law, "tests");
    assert_eq!(law.judge(&Results::default()), found);
}

#[test]
fn all_mistakes_are_reported_with_their_places() {
    let define = "a = 'b + 1'\n\"f(x)\" = 'x +'\nc = 'd'\nd = 'c'\nmean = '1'";
    insta::assert_snapshot!(mistakes(define, "f(1, 2) < mea(a)"), @r#"
    error[E0102]: unknown name `b`; did you mean `between`? (column 1 of the formula)
     --> claims.toml:3:6
      |
    3 | a = 'b + 1'
      |      ^

    error[E0102]: expected a value, found the end (column 4 of the formula)
     --> claims.toml:4:14
      |
    4 | "f(x)" = 'x +'
      |              ^

    error[E0102]: `c` uses itself
     --> claims.toml:5:5
      |
    5 | c = 'd'
      |     ^^^

    error[E0102]: expected a new name, found the function `mean`
     --> claims.toml:7:1
      |
    7 | mean = '1'
      | ^^^^

    error[E0102]: expected 1 value for `f`, found 2 (column 1 of the formula)
      --> claims.toml:14:10
       |
    14 | holds = 'f(1, 2) < mea(a)'
       |          ^

    error[E0102]: unknown name `mea`; did you mean `mean`? (column 11 of the formula)
      --> claims.toml:14:20
       |
    14 | holds = 'f(1, 2) < mea(a)'
       |                    ^

    6 errors
    "#);
    let first = |holds: &str| mistakes("", holds).lines().next().map(str::to_owned);
    for (holds, message) in [
        (
            "mean(result(\"a\", \"latency_mean\")) > 1",
            "table results has no column `latency_mean`; did you mean `latency_mean_ns`?",
        ),
        (
            "mean(len(lines(\"a\", \"host\", \"sl\"))) > 1",
            "expected a table (results, series, links, histograms, hosts, connections, \
             punctuality, stashes, waits), found `host`",
        ),
        (
            "result(\"a\", \"latency_mean_ns\") > 1",
            "expected one value, found a value for each seed; use a function over seeds, such as \
             mean()",
        ),
        ("1 < 2 yes", "expected an operator or the end, found `yes`"),
        (
            "result(\"a\", \"fairness_jain\", clas = 1) > 1",
            "`result` has no option `clas`",
        ),
    ] {
        let found = first(holds).unwrap();
        assert!(found.contains(message), "{holds}: {found}");
    }
}

/// The files of all papers have no mistakes, whether the program uses them or not.
#[test]
fn every_claims_file_is_valid() {
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/papers");
    for entry in std::fs::read_dir(papers).unwrap() {
        let path = entry.unwrap().path().join("claims.toml");
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let read = ClaimsFile::read(&path.display().to_string(), &text);
        let read = read.unwrap_or_else(|why| panic!("{why}"));
        for claim in &read.claims {
            let found = claim.judge(&Results::default());
            assert!(
                !found.measured.contains("mistake"),
                "{} {}",
                claim.id,
                found.measured
            );
        }
    }
}

/// A printed number stands next to its distance from ours, and what a paper claims is quoted.
#[test]
fn claims_quote_their_paper_and_compare_its_numbers() {
    for paper in crate::papers() {
        for claim in &paper.claims {
            let name = format!("{} {}", claim.id, claim.part);
            match claim.basis {
                Basis::Paper => assert!(!claim.quote.is_empty(), "{name} has no quote"),
                Basis::Ours => assert_eq!(claim.quote, "", "{name} is ours"),
                Basis::Arithmetic | Basis::MadeUp => {}
            }
            assert!(claim.quote.len() < 300, "{name}: a long quote");
            assert!(claim.why.split(' ').count() <= 14, "{name}: {}", claim.why);
            let Judge::Formulas(own) = &claim.judge else {
                continue;
            };
            let is_number = claim.paper.contains(|c: char| c.is_ascii_digit());
            let has_error = own.error.is_some() || claim.tier == Tier::E;
            assert!(
                !is_number || has_error,
                "{name}: {} without error",
                claim.paper
            );
        }
    }
}

/// Returns results with the values that a paper prints, so that its claims hold.
type Printed = fn() -> Results;

const PRINTED: &[(&str, Printed)] = &[
    ("002", crate::paper_002::tests::printed),
    ("003", crate::paper_003::tests::printed),
];

/// Every claim of a paper holds on what the paper prints, and misses on something else.
#[test]
fn every_claim_can_hold_and_miss() {
    for (id, printed) in PRINTED {
        let (claims, results) = (&crate::paper(id).unwrap().claims, printed());
        for claim in claims {
            let is_judged = !matches!(claim.judge, Judge::Law(_));
            let found = claim.judge(&results);
            let name = format!("{} {}", claim.id, claim.part);
            let verdict = found.check.unwrap_or(found.verdict);
            assert_eq!(verdict == Verdict::Holds, is_judged, "{name}: {found:?}");
        }
        assert_eq!(that_cannot_miss(claims, &results), [""; 0], "paper {id}");
    }
}

/// Returns the claims that hold on some results, and hold still when the values of any one of their
/// sources are multiplied by any of some factors. Such a claim says nothing. Claims without results
/// are exact and omitted.
fn that_cannot_miss(claims: &[Claim], results: &Results) -> Vec<String> {
    const FACTORS: [f64; 8] = [0.0, 0.5, 0.8, 0.97, 1.03, 1.2, 2.0, 100.0];
    let mut found = vec![];
    for claim in claims {
        let Judge::Formulas(formulas) = &claim.judge else {
            continue;
        };
        let verdict = |scale: Option<(String, f64)>| {
            let mut evaluation = Evaluation::new(results, &formulas.file, &formulas.names);
            evaluation.scale = scale;
            let verdict = formulas.judge(&evaluation).map(|own| own.verdict);
            (verdict, evaluation.used.into_inner())
        };
        let (ours, sources) = verdict(None);
        if ours != Ok(Verdict::Holds) || sources.is_empty() {
            continue;
        }
        let mut changes = sources
            .iter()
            .flat_map(|source| FACTORS.map(|factor| (source.clone(), factor)));
        if !changes.any(|change| verdict(Some(change)).0 == Ok(Verdict::Misses)) {
            found.push(format!("{} {}", claim.id, claim.part));
        }
    }
    found
}

/// A file that another user wrote can neither overflow the stack nor run without end.
#[test]
fn formulas_have_limits() {
    let deep =
        |open: &str, close: &str| format!("{}1{} > 0", open.repeat(100_000), close.repeat(100_000));
    for holds in [
        deep("(", ")"),
        deep("[", "]"),
        deep("-", ""),
        deep("not ", ""),
        deep("1 + ", ""),
        deep("", "[0]"),
    ] {
        let found = mistakes("", &holds);
        assert!(found.contains("expected at most"), "{found}");
    }
    assert!(mistakes("x = '\"{1:.70000}\"'", "yes").contains("at most 17 decimals"));
    for (template, expected) in [
        ("{interval(1, 1e18, \"\")}", "at most 17 decimals"),
        (
            "{register_bits(1e18, 1, yes, \"all\")}",
            "expected 1 to 65536",
        ),
    ] {
        let found = text("", template);
        assert!(found.contains(expected), "{found}");
    }
    // Each definition squares the length of the one before.
    let mut define = "e0 = [1, 2, 3, 4]\n".to_owned();
    for n in 1..8 {
        let before = n - 1;
        define.push_str(&format!(
            "e{n} = '[a for a in e{before} for b in e{before}]'\n"
        ));
    }
    let found = text(&define, "{len(e7)}");
    assert!(found.contains("steps"), "{found}");
    let mut define = "d0 = '1'\n".to_owned();
    for n in 1..1500 {
        define.push_str(&format!("d{n} = 'd{} + 1'\n", n - 1));
    }
    let found = text(&define, "{d1499}");
    assert!(found.contains("levels"), "{found}");
    // No run is needed for this value by seed.
    let never = "{mean(choose(yes, 1, result(\"a\", \"delivered_load\", class = \"x\")))}";
    assert_eq!(text("", never), "1");
}
