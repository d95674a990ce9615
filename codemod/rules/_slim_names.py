"""The public names of tf_slim 1.1.0, which took over slim and what slim needs of contrib; read once, since it need not be installed."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LAYERS = """
    GDN OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES RevBlock adaptive_clipping_fn apply_regularization avg_pool2d avg_pool3d
    batch_norm bias_add conv1d conv2d conv2d_in_plane conv2d_transpose conv3d conv3d_transpose convolution convolution1d
    convolution2d convolution2d_in_plane convolution2d_transpose convolution3d convolution3d_transpose dense_to_sparse
    dropout elu flatten fully_connected gdn group_norm images_to_sequence instance_norm l1_l2_regularizer l1_regularizer
    l2_regularizer layer_norm legacy_fully_connected legacy_linear legacy_relu linear max_pool2d max_pool3d maxout
    one_hot_encoding optimize_loss pool recompute_grad relu relu6 repeat rev_block scale_gradient separable_conv2d
    separable_convolution2d sequence_to_images softmax spatial_softmax stack sum_regularizer summarize_activation
    summarize_activations summarize_biases summarize_collection summarize_tensor summarize_tensors summarize_variables
    summarize_weights unit_norm variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
"""
_FRAMEWORK = """
    VariableDeviceChooser add_arg_scope add_model_variable arg_scope arg_scope_func_key arg_scoped_arguments
    assert_or_get_global_step assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn
    current_arg_scope filter_variables get_local_variables get_model_variables get_trainable_variables
    get_unique_variable get_variable_full_name get_variables get_variables_by_name get_variables_by_suffix
    get_variables_to_restore global_variable has_arg_scope local_variable model_variable variable
"""
_STEPS = "assert_global_step create_global_step get_global_step get_or_create_global_step"

LAYERS = _names(_LAYERS)
FRAMEWORK = _names(_FRAMEWORK)
SLIM = LAYERS | FRAMEWORK | _names(_STEPS)

# What `tf_slim.layers` holds once tf_slim is imported: its inner module of that name, which lacks the rest of the layers.
OUTSIDE_LAYERS = _names(
    """
    GDN OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES RevBlock adaptive_clipping_fn apply_regularization group_norm instance_norm
    l1_l2_regularizer l1_regularizer l2_regularizer optimize_loss recompute_grad rev_block sum_regularizer
    summarize_activation summarize_activations summarize_biases summarize_collection summarize_tensor summarize_tensors
    summarize_variables summarize_weights variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
    """
) - {"GDN"}

UTILS = _names(
    """
    append_tensor_alias channel_dimension collect_named_outputs constant_value convert_collection_to_dict
    gather_tensors_aliases get_tensor_aliases get_variable_collections last_dimension n_positive_integers smart_cond
    static_cond two_element_tuple
    """
)
LOSSES = _names(
    """
    absolute_difference add_loss cosine_distance compute_weighted_loss get_losses get_regularization_losses get_total_loss
    hinge_loss log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
    sparse_softmax_cross_entropy
    """
)
METRIC_LEARNING = _names(
    "cluster_loss contrastive_loss lifted_struct_loss npairs_loss npairs_loss_multilabel triplet_semihard_loss"
)
METRICS = _names(
    """
    accuracy aggregate_metric_map aggregate_metrics auc_using_histogram auc_with_confidence_intervals cohen_kappa count
    f1_score precision_at_recall precision_recall_at_equal_thresholds recall_at_precision sparse_recall_at_top_k
    streaming_accuracy streaming_auc streaming_concat streaming_covariance streaming_curve_points streaming_dynamic_auc
    streaming_false_negative_rate streaming_false_negative_rate_at_thresholds streaming_false_negatives
    streaming_false_negatives_at_thresholds streaming_false_positive_rate streaming_false_positive_rate_at_thresholds
    streaming_false_positives streaming_false_positives_at_thresholds streaming_mean streaming_mean_absolute_error
    streaming_mean_cosine_distance streaming_mean_iou streaming_mean_relative_error streaming_mean_squared_error
    streaming_mean_tensor streaming_pearson_correlation streaming_percentage_less streaming_precision
    streaming_precision_at_thresholds streaming_recall streaming_recall_at_k streaming_recall_at_thresholds
    streaming_root_mean_squared_error streaming_sensitivity_at_specificity streaming_sparse_average_precision_at_k
    streaming_sparse_average_precision_at_top_k streaming_sparse_precision_at_k streaming_sparse_precision_at_top_k
    streaming_sparse_recall_at_k streaming_specificity_at_sensitivity streaming_true_negatives
    streaming_true_negatives_at_thresholds streaming_true_positives streaming_true_positives_at_thresholds
    """
)
TRAINING = _names(
    "add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn create_train_op multiply_gradients train"
)
EVALUATION = _names(
    """
    StopAfterNEvalsHook SummaryAtEndHook checkpoints_iterator evaluate_once evaluate_repeatedly evaluation_loop
    get_or_create_eval_step wait_for_new_checkpoint
    """
)
NETS = _names(
    "alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1 resnet_v2 vgg"
)
# Modules and classes that are reached through slim itself.
MODULES = _names(
    """
    data data_decoder data_provider dataset dataset_data_provider evaluation layers learning losses metrics
    model_analyzer nets parallel_reader prefetch_queue queues summaries tfexample_decoder
    """
)
# What raises on today's TensorFlow unless `bridge.legacy_slim` is imported, and what calls that; `tests/codemod/test_slim_names.py`
# looks into the package.
NEED_LEGACY_SLIM = _names(
    """
    RevBlock adaptive_clipping_fn add_gradients_summaries auc_using_histogram auc_with_confidence_intervals batch_norm
    clip_gradient_norms clip_gradient_norms_fn cluster_loss constant_value create_train_op dense_to_sparse global_variable
    inception inception_v1 inception_v2 inception_v3 legacy_fully_connected legacy_linear legacy_relu local_variable
    multiply_gradients npairs_loss_multilabel optimize_loss precision_at_recall recall_at_precision recompute_grad resnet_v1
    resnet_v2 rev_block smart_cond streaming_concat streaming_curve_points streaming_dynamic_auc
    streaming_false_negative_rate_at_thresholds streaming_false_negatives_at_thresholds
    streaming_false_positive_rate_at_thresholds streaming_false_positives_at_thresholds
    streaming_true_negatives_at_thresholds streaming_true_positives_at_thresholds tfexample_decoder
    """
)
