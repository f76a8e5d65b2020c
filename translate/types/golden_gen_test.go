//go:build pggolden

package types_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestGenerateGolden asks a PostgreSQL 15 for the answers to testdata/golden_cases.txt:
//
//	EIDER_PG_DSN=postgres://… go test -tags pggolden -run TestGenerateGolden ./translate/types
func TestGenerateGolden(t *testing.T) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, os.Getenv("EIDER_PG_DSN"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	run := func(sql string, format int16) (string, error) {
		r := conn.ExecParams(ctx, sql, nil, nil, nil, []int16{format}).Read()
		if r.Err != nil {
			return "", r.Err
		}
		if len(r.Rows) == 0 || r.Rows[0][0] == nil {
			return "NULL", nil
		}
		if format == 1 {
			return hex.EncodeToString(r.Rows[0][0]), nil
		}
		return string(r.Rows[0][0]), nil
	}
	for _, set := range []string{"TimeZone=UTC", "DateStyle=ISO, MDY", "IntervalStyle=postgres", "extra_float_digits=1"} {
		name, val, _ := strings.Cut(set, "=")
		if _, err := run("SET "+name+" = '"+val+"'", 0); err != nil {
			t.Fatal(err)
		}
	}
	in, err := os.Open("testdata/golden_cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create("testdata/pg15_golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	defer w.Flush()
	for sc := bufio.NewScanner(in); sc.Scan(); {
		line := sc.Text()
		f := strings.Split(line, "\t")
		if f[0] == "set" {
			if _, err := run("SET "+f[1]+" = "+quoteList(f[2]), 0); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(w, line)
			continue
		}
		sql := goldenSQL(f)
		text, err := run(sql, 0)
		var bin string
		if err == nil && (f[0] == "in" || f[0] == "cast") {
			bin, err = run(sql, 1)
		}
		if err != nil {
			pe, ok := err.(*pgconn.PgError)
			if !ok {
				t.Fatal(sql, err)
			}
			fmt.Fprintf(w, "%s\t=> err\t%s\t%s\n", line, pe.Code, pe.Message)
			continue
		}
		fmt.Fprintf(w, "%s\t=> ok\t%s\t%s\n", line, text, bin)
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quoteList(s string) string {
	parts := strings.Split(s, ", ")
	for i := range parts {
		parts[i] = quote(parts[i])
	}
	return strings.Join(parts, ", ")
}

func goldenSQL(f []string) string {
	lit := func(s, typ string) string { return "CAST(" + quote(s) + " AS " + typ + ")" }
	switch f[0] {
	case "in":
		return "SELECT " + lit(f[2], f[1])
	case "cast":
		return "SELECT CAST(" + lit(f[3], f[1]) + " AS " + f[2] + ")"
	case "cmp":
		a, b := lit(f[2], f[1]), lit(f[3], f[1])
		return fmt.Sprintf("SELECT CASE WHEN %s < %s THEN -1 WHEN %s = %s THEN 0 ELSE 1 END", a, b, a, b)
	case "num":
		a := lit(f[2], "numeric")
		ops := map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}
		if op := ops[f[1]]; op != "" {
			return "SELECT " + a + op + lit(f[3], "numeric")
		}
		switch f[1] {
		case "divt":
			return "SELECT div(" + a + "," + lit(f[3], "numeric") + ")"
		case "log10":
			return "SELECT log(" + a + ")"
		case "neg":
			return "SELECT -" + a
		case "round", "trunc":
			return "SELECT " + f[1] + "(" + a + "," + lit(f[3], "int4") + ")"
		}
		if len(f) == 4 {
			return "SELECT " + f[1] + "(" + a + "," + lit(f[3], "numeric") + ")"
		}
		return "SELECT " + f[1] + "(" + a + ")"
	case "tochar":
		return "SELECT to_char(" + lit(f[1], "numeric") + "," + quote(f[2]) + ")"
	case "dt":
		switch f[1] {
		case "tsadd":
			return "SELECT " + lit(f[2], "timestamp") + "+" + lit(f[3], "interval")
		case "tzadd":
			return "SELECT " + lit(f[2], "timestamptz") + "+" + lit(f[3], "interval")
		case "tssub":
			return "SELECT " + lit(f[2], "timestamp") + "-" + lit(f[3], "timestamp")
		case "age":
			return "SELECT age(" + lit(f[2], "timestamp") + "," + lit(f[3], "timestamp") + ")"
		case "agetz":
			return "SELECT age(" + lit(f[2], "timestamptz") + "," + lit(f[3], "timestamptz") + ")"
		case "trunc":
			return "SELECT date_trunc(" + quote(f[2]) + "," + lit(f[4], f[3]) + ")"
		case "extract":
			return "SELECT extract(\"" + f[2] + "\" FROM " + lit(f[4], f[3]) + ")"
		case "part":
			return "SELECT date_part(" + quote(f[2]) + "," + lit(f[4], f[3]) + ")"
		case "at":
			return "SELECT " + lit(f[4], f[3]) + " AT TIME ZONE " + quote(f[2])
		case "ivmul":
			return "SELECT " + lit(f[2], "interval") + "*" + lit(f[3], "float8")
		case "ivdiv":
			return "SELECT " + lit(f[2], "interval") + "/" + lit(f[3], "float8")
		case "make_date":
			neg := strings.HasPrefix(f[2], "-")
			p := strings.Split(strings.TrimPrefix(f[2], "-"), "-")
			if neg {
				p[0] = "-" + p[0]
			}
			return "SELECT make_date(" + strings.Join(p, ",") + ")"
		case "to_char":
			return "SELECT to_char(" + lit(f[4], f[2]) + "," + quote(f[3]) + ")"
		case "to_timestamp", "to_date", "to_number":
			return "SELECT " + f[1] + "(" + quote(f[2]) + "," + quote(f[3]) + ")"
		}
		return "SELECT " + f[1] + "(" + lit(f[2], "interval") + ")"
	}
	return ""
}
