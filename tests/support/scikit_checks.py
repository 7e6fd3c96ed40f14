"""scikit-learn's checks of an estimator in several configurations."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

# What is checked of conventions and of the forms of data: parameters come into play after them.
ONCE = {
    "check_all_zero_sample_weights_error", "check_array_api_input", "check_classifier_data_not_an_array",
    "check_classifiers_regression_target", "check_complex_data", "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters", "check_dtype_object", "check_estimator_cloneable", "check_estimator_repr",
    "check_estimator_sparse_array", "check_estimator_sparse_matrix", "check_estimator_tags_renamed",
    "check_estimators_empty_data_messages", "check_estimators_fit_returns_self", "check_estimators_nan_inf",
    "check_estimators_unfitted", "check_f_contiguous_array_estimator", "check_fit1d", "check_fit2d_predict1d",
    "check_fit_check_is_fitted", "check_fit_score_takes_y", "check_get_params_invariance", "check_mixin_order",
    "check_n_features_in", "check_n_features_in_after_fitting", "check_no_attributes_set_in_init",
    "check_non_transformer_estimators_n_iter", "check_parameters_default_constructible",
    "check_positive_only_tag_during_fit", "check_readonly_memmap_input", "check_requires_y_none",
    "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_list", "check_sample_weights_not_an_array", "check_sample_weights_pandas_series",
    "check_sample_weights_shape", "check_set_params", "check_supervised_y_2d", "check_supervised_y_no_nan",
    "check_valid_tag_types",
}  # fmt: skip
OF_GRAM_MATRICES = {"check_classifiers_one_label_sample_weights": "its matrix is not symmetric: no Gram matrix"}


def every_check(instances, expected_failed):
    """All checks of the default configuration and of a Gram matrix; of others those that parameters can change."""

    def failing(estimator):
        return expected_failed | (OF_GRAM_MATRICES if _is_pairwise(estimator) else {})

    mark = parametrize_with_checks(instances, expected_failed_checks=failing)
    names, pairs = mark.args
    return pytest.mark.parametrize(names, [pair for pair in pairs if _can_differ(pair)], **mark.kwargs)


def _can_differ(pair):
    estimator, check = getattr(pair, "values", pair)
    default = estimator.get_params() == type(estimator)().get_params()
    return default or _is_pairwise(estimator) or check.func.__name__ not in ONCE


def _is_pairwise(estimator):
    return estimator.__sklearn_tags__().input_tags.pairwise
