package partition

import "github.com/eiderdb/eider/lake"

// MacroName is the macro that scripts call.
const MacroName = "wm_partition"

// Macro is the SQL of DuckDB that makes wm_partition(ts), the value of a time. It is empty
// for a dynamic partition.
//
// A time with a zone is an instant and is read on the spec's clocks, whatever the zone of
// the session. A date, and a time without a zone, are taken for what those clocks show.
func (s Spec) Macro() string {
	if s.Kind == Dynamic {
		return ""
	}
	format, zone := lake.QuoteText(s.Format), lake.QuoteText(s.Zone.String())
	return "CREATE OR REPLACE TEMP MACRO " + MacroName + "(ts) AS " +
		"CASE typeof(ts) WHEN 'TIMESTAMP WITH TIME ZONE' " +
		"THEN strftime(timezone(" + zone + ", CAST(ts AS TIMESTAMPTZ)), " + format + ") " +
		"ELSE strftime(CAST(ts AS TIMESTAMP), " + format + ") END"
}
