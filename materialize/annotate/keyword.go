package annotate

// The keywords.
const (
	keyPipeline    = "pipeline"
	keyPartitioned = "partitioned"
	keyFreshness   = "freshness"
	keyMaterialize = "materialize"
	keyDataTest    = "data_test"
	keyOn          = "on"
	keyTrigger     = "trigger"
	keyDebounce    = "debounce"
	keyTag         = "tag"
	keyRetry       = "retry"
	keyColumn      = "column"
	keyMute        = "mute"
	keyMacros      = "macros"
	keyUse         = "use"
	keyMeasure     = "measure"
	keyDimension   = "dimension"
)
