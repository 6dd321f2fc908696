//! Every statistic against numbers of NumPy and SciPy (the scripts in `fixtures/reference/` make them), to 1e-9.
//!
//! Natively each check is a test. `web/examples/reference.rs` holds the same list, built for WebAssembly, and
//! `tests/browser/reference.test.mjs` runs it: the page's numbers are proven by the same checks.

mod cells;
mod comparison;
mod energy;
mod statistics;

macro_rules! checks {
    ($($module:ident::$name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $module::$name();
            }
        )*

        /// The checks by name, for whoever has no test runner.
        #[allow(dead_code, reason = "natively the test runner has them")]
        pub(crate) const ALL: &[(&str, fn())] = &[$((stringify!($name), $module::$name)),*];
    };
}

checks! {
    statistics::quantiles_means_and_deviations,
    statistics::student_and_normal,
    statistics::nothing_can_be_told_without_degrees_of_freedom,
    statistics::welch_satterthwaite_and_hodges_lehmann,
    statistics::benjamini_hochberg,
    statistics::the_change_that_a_design_detects,
    cells::each_sample,
    cells::the_interval_of_the_median_of_many_values,
    cells::the_mean_over_sessions,
    cells::the_ratio_of_two_sides,
    cells::the_pooled_deviation_both_ways,
    cells::the_steps_of_a_series,
    comparison::intervals_and_p_are_those_of_scipy,
    comparison::a_calibration_is_that_of_numpy,
    comparison::the_permutation_test_deals_in_every_way,
    energy::joules_and_uncertainties_are_those_of_the_second_implementation,
}
