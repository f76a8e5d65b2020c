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

// keyword is what the parser knows of one.
type keyword struct {
	// read takes what follows the keyword in a line into the header.
	read func(p *parser, rest string)
	// form is how the line looks, for remedies.
	form string
	// harmless is set if a run does the same without the line.
	harmless bool
	// english is set if sentences begin with the word: one that is not read, and is letters
	// only, may be one.
	english bool
	// term is set if no sentence begins with the word, or none that is not about the table:
	// what is not read is never taken for prose.
	term bool
	// plain is set if almost every text is well-formed after the keyword: that a text is
	// does not tell an annotation from prose.
	plain bool
}

// keywords are all of them, by name.
func keywords() map[string]keyword {
	return map[string]keyword{
		keyPipeline:    {read: (*parser).pipeline, form: "pipeline", harmless: true},
		keyPartitioned: {read: (*parser).partitioned, form: "partitioned daily|hourly|weekly|monthly [tz=…] [format=…] [start=…], or partitioned dynamic key=…", term: true},
		keyFreshness:   {read: (*parser).freshness, form: "freshness 2h"},
		keyMaterialize: {read: (*parser).materialize, form: "materialize [manual] ducklake://LAKE/TABLE [append] [key=…] [history]"},
		keyDataTest: {
			read: (*parser).dataTest,
			form: "data_test unique COL, not_null COL, accepted_values COL = A,B, relationships COL -> ASSET.COL, or SCRIPT",
			term: true,
		},
		keyOn:        {read: (*parser).on, form: "on ducklake://LAKE/TABLE, or on schedule cron=\"0 * * * *\"", english: true},
		keyTrigger:   {read: (*parser).trigger, form: "trigger any, or trigger all", english: true},
		keyDebounce:  {read: (*parser).debounce, form: "debounce 30s"},
		keyTag:       {read: (*parser).tag, form: "tag WORD, at most 50 bytes", english: true, plain: true},
		keyRetry:     {read: (*parser).retry, form: "retry 3, or retry 3 30s", english: true},
		keyColumn:    {read: (*parser).column, form: "column COL <- ASSET.COL[, ASSET.COL]", harmless: true},
		keyMute:      {read: (*parser).mute, form: "mute all, or mute ASSET", english: true},
		keyMacros:    {read: (*parser).macros, form: "macros", english: true},
		keyUse:       {read: (*parser).use, form: "use FOLDER/SCRIPT", english: true},
		keyMeasure:   {read: (*parser).measure, form: "measure NAME = EXPR [where CONDITION]", harmless: true},
		keyDimension: {read: (*parser).dimension, form: "dimension NAME = EXPR", harmless: true},
	}
}
