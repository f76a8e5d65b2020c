package exec

import "github.com/eiderdb/eider/translate/types"

func addJSONOps(add func(name string, l, r, ret types.OID, fn OpFunc)) {}

func jsonAgg(b bool) func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) { return nil }
func jsonObjectAgg(b bool) func(c *Ctx, spec *AggSpec, rows []Row) (types.Datum, error) {
	return nil
}
