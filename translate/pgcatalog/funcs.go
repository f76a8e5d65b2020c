package pgcatalog

import (
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Funcs returns the system functions, for exec.NewFuncSet.
func Funcs() []exec.Func {
	var all []exec.Func
	for _, part := range [][]exec.Func{
		sessionFuncs(), objectFuncs(), privilegeFuncs(), serverFuncs(), lockFuncs(), sizeFuncs(), visibilityFuncs(),
	} {
		all = append(all, part...)
	}
	return all
}

// Short names for the signatures below.
const (
	tText = types.TextOID
	tName = types.NameOID
	tOID  = types.OidOID
	tBool = types.BoolOID
	tInt2 = types.Int2OID
	tInt4 = types.Int4OID
	tInt8 = types.Int8OID
	tTime = types.TimestamptzOID
	tVoid = types.VoidOID
)

type evalFunc = func(c *exec.Call) (types.Datum, error)

// stable makes a strict function whose result is fixed within a statement.
func stable(name string, ret types.OID, eval evalFunc, args ...types.OID) exec.Func {
	return exec.Func{Name: name, Args: args, Ret: ret, Vol: exec.Stable, Eval: eval}
}

// volatile makes a strict function that is called anew for every row.
func volatile(name string, ret types.OID, eval evalFunc, args ...types.OID) exec.Func {
	return exec.Func{Name: name, Args: args, Ret: ret, Vol: exec.Volatile, Eval: eval}
}

// immutable makes a strict function of its arguments alone.
func immutable(name string, ret types.OID, eval evalFunc, args ...types.OID) exec.Func {
	return exec.Func{Name: name, Args: args, Ret: ret, Vol: exec.Immutable, Eval: eval}
}

// nullable makes f a function that is called with NULLs.
func nullable(f exec.Func) exec.Func {
	f.NullCall = true
	return f
}

// constant answers one value.
func constant(d types.Datum) evalFunc {
	return func(*exec.Call) (types.Datum, error) { return d, nil }
}

func str(d types.Datum) string { return string(d.B) }

func sessionFuncs() []exec.Func {
	user := func(c *exec.Call) (types.Datum, error) { return dText(c.Session.User()), nil }
	db := func(c *exec.Call) (types.Datum, error) { return dText(c.Session.Database()), nil }
	schema := func(c *exec.Call) (types.Datum, error) {
		if p := c.Session.SearchPath(); len(p) > 0 {
			return dText(p[0]), nil
		}
		return types.Null, nil
	}
	setting := func(c *exec.Call) (types.Datum, error) {
		name := str(c.Args[0])
		if v, ok := c.Session.Setting(name); ok {
			return dText(v), nil
		}
		if len(c.Args) > 1 && c.Args[1].I != 0 {
			return types.Null, nil
		}
		return types.Null, pgerr.New(pgerr.UndefinedObject, "unrecognized configuration parameter %q", name)
	}
	return []exec.Func{
		stable("version", tText, func(c *exec.Call) (types.Datum, error) { return dText(versionText(c.Ctx)), nil }),
		stable("current_database", tName, db),
		stable("current_catalog", tName, db),
		stable("current_schema", tName, schema),
		stable("current_schemas", types.NameArrayOID, currentSchemas, tBool),
		stable("current_user", tName, user),
		stable("user", tName, user),
		stable("current_role", tName, user),
		stable("session_user", tName, func(c *exec.Call) (types.Datum, error) { return dText(c.Session.SessionUser()), nil }),
		stable("current_setting", tText, setting, tText),
		stable("current_setting", tText, setting, tText, tBool),
		nullable(volatile("set_config", tText, setConfig, tText, tText, tBool)),
		stable("pg_backend_pid", tInt4, func(c *exec.Call) (types.Datum, error) { return dInt(int64(c.Session.PID())), nil }),
		stable("pg_my_temp_schema", tOID, func(c *exec.Call) (types.Datum, error) {
			if t := tempSchema(c.Ctx); t != nil {
				return dOID(t.OID), nil
			}
			return dOID(0), nil
		}),
		stable("pg_is_other_temp_schema", tBool, constant(dBool(false)), tOID),
		stable("getdatabaseencoding", tName, constant(dText("UTF8"))),
		immutable("pg_encoding_to_char", tName, func(c *exec.Call) (types.Datum, error) {
			switch c.Args[0].I {
			case encodingUTF8:
				return dText("UTF8"), nil
			case 0:
				return dText("SQL_ASCII"), nil
			}
			return dText(""), nil
		}, tInt4),
		immutable("pg_char_to_encoding", tInt4, func(c *exec.Call) (types.Datum, error) {
			switch foldEncoding(str(c.Args[0])) {
			case "utf8", "unicode":
				return dInt(encodingUTF8), nil
			case "sqlascii":
				return dInt(0), nil
			}
			return dInt(-1), nil
		}, tName),
	}
}

func foldEncoding(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 'A' && b <= 'Z':
			out = append(out, b+'a'-'A')
		case b >= 'a' && b <= 'z', b >= '0' && b <= '9':
			out = append(out, b)
		}
	}
	return string(out)
}

// PostgresVersion is the major version that version() claims. It is below 14 so that
// DuckDB never plans ctid range scans: see docs/adr/0006-system-catalog.md.
const PostgresVersion = "13.0"

// versionText is the answer of version(): the first number in it is PostgresVersion's.
func versionText(c *exec.Ctx) string {
	v := "dev"
	if i, ok := c.Session.(ServerInfo); ok && i.ProductVersion() != "" {
		v = i.ProductVersion()
	}
	return "PostgreSQL " + PostgresVersion + " (Eider " + v + ")"
}

func currentSchemas(c *exec.Call) (types.Datum, error) {
	n := NewNames(c.Ctx)
	var names []string
	if c.Args[0].I != 0 {
		for _, s := range n.path() {
			names = append(names, s.Name)
		}
	} else {
		names = c.Session.SearchPath()
	}
	return dNameArray(names), nil
}

func setConfig(c *exec.Call) (types.Datum, error) {
	if !c.Args[0].Valid {
		return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "SET requires parameter name")
	}
	name, value := str(c.Args[0]), str(c.Args[1])
	if err := c.Session.SetSetting(name, value, c.Args[2].Valid && c.Args[2].I != 0); err != nil {
		return types.Null, err
	}
	if v, ok := c.Session.Setting(name); ok {
		return dText(v), nil
	}
	return dText(value), nil
}
