package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// A batch whose first line is "-- params: [type:]value | …" runs through Parse, Bind and Execute three times: with parameters and results in
// text, with results in binary, and with parameters in binary too. A batch whose first line is "-- protocol" is messages, one a line, see
// runMessages. One whose first line is "-- copyin: data" is a COPY FROM STDIN with its data.

// raw speaks the protocol on a connection that nothing else uses meanwhile.
type raw struct {
	fe     *pgproto3.Frontend
	status byte
	out    strings.Builder
	types  []uint32 // of the last ParameterDescription
	copyIn []byte   // the answer to CopyInResponse
}

// runExtended runs a batch of either kind; ok is false for any other batch.
func runExtended(ctx context.Context, c *pgconn.PgConn, sql string) (result string, ok bool) {
	head, rest, _ := strings.Cut(sql, "\n")
	r := &raw{fe: c.Frontend(), status: c.TxStatus()}
	deadline, _ := ctx.Deadline()
	_ = c.Conn().SetDeadline(deadline)
	if params, found := strings.CutPrefix(head, "-- params:"); found {
		r.runParams(params, rest)
	} else if head == "-- protocol" {
		r.runMessages(rest)
	} else if data, found := strings.CutPrefix(head, "-- copyin: "); found {
		r.runCopyIn(data, rest)
	} else {
		return "", false
	}
	return r.out.String() + fmt.Sprintf("status %c\n", r.status), true
}

// runCopyIn answers a COPY FROM STDIN with data, which is written with Go's escapes.
func (r *raw) runCopyIn(text, sql string) {
	data, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		fmt.Fprintf(&r.out, "no such data: %s\n", text)
		return
	}
	r.copyIn = []byte(data)
	r.fe.SendQuery(&pgproto3.Query{String: sql})
	r.receive()
	r.copyIn = nil
}

// param is a parameter of a statement: its type as Parse tells it, and its value.
type param struct {
	oid   uint32
	value *string
}

var typeNames = pgtype.NewMap()

func typeOID(name string) uint32 {
	if t, ok := typeNames.TypeForName(name); ok {
		return t.OID
	}
	n, _ := strconv.ParseUint(name, 10, 32)
	return uint32(n)
}

var typed = regexp.MustCompile(`^(_?[a-z][a-z0-9]*|\d+):(.*)$`)

// parseParams reads [type:]value | …; NULL stands for itself, a value between single quotes for what is between them.
func parseParams(text string) []param {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var out []param
	for _, f := range strings.Split(text, "|") {
		f = strings.TrimSpace(f)
		var p param
		if m := typed.FindStringSubmatch(f); m != nil && typeOID(m[1]) != 0 {
			p.oid, f = typeOID(m[1]), m[2]
		}
		if f != "NULL" {
			if len(f) > 1 && f[0] == '\'' && f[len(f)-1] == '\'' {
				f = f[1 : len(f)-1]
			}
			p.value = &f
		}
		out = append(out, p)
	}
	return out
}

func values(params []param, encode func(i int, text string) []byte) [][]byte {
	out := make([][]byte, len(params))
	for i, p := range params {
		if p.value != nil {
			out[i] = encode(i, *p.value)
		}
	}
	return out
}

func oids(params []param) []uint32 {
	out := make([]uint32, len(params))
	for i, p := range params {
		out[i] = p.oid
	}
	return out
}

func asText(_ int, text string) []byte { return []byte(text) }

func (r *raw) runParams(text, sql string) {
	params := parseParams(text)
	run := func(what string, vals [][]byte, formats []int16, results int16) {
		r.out.WriteString(what + "\n")
		r.fe.SendParse(&pgproto3.Parse{Query: sql, ParameterOIDs: oids(params)})
		r.fe.SendDescribe(&pgproto3.Describe{ObjectType: 'S'})
		r.fe.SendBind(&pgproto3.Bind{Parameters: vals, ParameterFormatCodes: formats, ResultFormatCodes: []int16{results}})
		r.fe.SendDescribe(&pgproto3.Describe{ObjectType: 'P'})
		r.fe.SendExecute(&pgproto3.Execute{})
		r.sync()
	}
	run("text", values(params, asText), nil, 0)
	run("binary results", values(params, asText), nil, 1)
	formats := make([]int16, len(params))
	bound := values(params, func(i int, text string) []byte {
		b, ok := r.toBinary(i, text)
		if ok {
			formats[i] = 1
		}
		return b
	})
	run("binary parameters", bound, formats, 0)
}

// toBinary encodes a parameter as the type that the server inferred; what the client cannot encode stays text.
func (r *raw) toBinary(i int, text string) ([]byte, bool) {
	if i >= len(r.types) {
		return []byte(text), false
	}
	oid := r.types[i]
	t, ok := typeNames.TypeForOID(oid)
	if !ok {
		return []byte(text), false
	}
	v, err := t.Codec.DecodeValue(typeNames, oid, pgtype.TextFormatCode, []byte(text))
	if err != nil {
		return []byte(text), false
	}
	b, err := typeNames.Encode(oid, pgtype.BinaryFormatCode, v, nil)
	if err != nil || b == nil {
		return []byte(text), false
	}
	return b, true
}

// runMessages sends messages, one a line, and renders what comes back:
//
//	parse NAME [(types)]: SQL
//	bind PORTAL STATEMENT [(values)] [binary|formats …]
//	describe|close statement|portal NAME
//	execute PORTAL [rows]
//	flush
//	sync
//	query SQL
//
// A dash is the unnamed statement or portal. A bound value that begins with \x is sent as those bytes in binary format.
func (r *raw) runMessages(text string) {
	pending := false
	for _, line := range strings.Split(text, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		pending = true
		switch verb {
		case "parse":
			head, sql, _ := strings.Cut(rest, ": ")
			name, list := inParens(head)
			r.fe.SendParse(&pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: typeList(list)})
		case "bind":
			r.sendBind(rest)
		case "describe":
			r.fe.SendDescribe(&pgproto3.Describe{ObjectType: kind(rest), Name: object(rest)})
		case "close":
			r.fe.SendClose(&pgproto3.Close{ObjectType: kind(rest), Name: object(rest)})
		case "execute":
			name, rows, _ := strings.Cut(rest, " ")
			n, _ := strconv.ParseUint(rows, 10, 32)
			r.fe.SendExecute(&pgproto3.Execute{Portal: unnamed(name), MaxRows: uint32(n)})
		case "flush":
			r.fe.Send(&pgproto3.Flush{})
		case "sync":
			r.sync()
			pending = false
		case "query":
			r.fe.SendQuery(&pgproto3.Query{String: rest})
			r.receive()
			pending = false
		default:
			fmt.Fprintf(&r.out, "no such message: %s\n", line)
		}
	}
	if pending {
		r.sync()
	}
}

func unnamed(name string) string {
	if name == "-" {
		return ""
	}
	return name
}

func kind(s string) byte {
	if strings.HasPrefix(s, "portal") {
		return 'P'
	}
	return 'S'
}

func object(s string) string {
	_, name, _ := strings.Cut(s, " ")
	return unnamed(name)
}

// inParens parts "name (list)".
func inParens(s string) (name, list string) {
	name, list, _ = strings.Cut(s, "(")
	list, _, _ = strings.Cut(list, ")")
	return unnamed(strings.TrimSpace(name)), list
}

func typeList(list string) []uint32 {
	var out []uint32
	for _, n := range strings.Split(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, typeOID(n))
		}
	}
	return out
}

var bindLine = regexp.MustCompile(`^(\S+) (\S+)(?: \((.*)\))?(?: ([\d ]+|binary))?$`)

func (r *raw) sendBind(text string) {
	m := bindLine.FindStringSubmatch(text)
	if m == nil {
		fmt.Fprintf(&r.out, "no such bind: %s\n", text)
		return
	}
	b := &pgproto3.Bind{DestinationPortal: unnamed(m[1]), PreparedStatement: unnamed(m[2])}
	for _, p := range parseParams(m[3]) {
		switch {
		case p.value == nil:
			b.Parameters, b.ParameterFormatCodes = append(b.Parameters, nil), append(b.ParameterFormatCodes, 0)
		case strings.HasPrefix(*p.value, `\x`):
			var raw []byte
			_, _ = fmt.Sscanf((*p.value)[2:], "%x", &raw)
			if raw == nil {
				raw = []byte{}
			}
			b.Parameters, b.ParameterFormatCodes = append(b.Parameters, raw), append(b.ParameterFormatCodes, 1)
		default:
			b.Parameters, b.ParameterFormatCodes = append(b.Parameters, []byte(*p.value)), append(b.ParameterFormatCodes, 0)
		}
	}
	for _, f := range strings.Fields(strings.ReplaceAll(m[4], "binary", "1")) {
		n, _ := strconv.Atoi(f)
		b.ResultFormatCodes = append(b.ResultFormatCodes, int16(n))
	}
	r.fe.SendBind(b)
}

func (r *raw) sync() {
	r.fe.SendSync(&pgproto3.Sync{})
	r.receive()
}

// receive renders messages until the server is ready.
func (r *raw) receive() {
	if err := r.fe.Flush(); err != nil {
		fmt.Fprintf(&r.out, "sending: %v\n", err)
		return
	}
	for {
		msg, err := r.fe.Receive()
		if err != nil {
			fmt.Fprintf(&r.out, "receiving: %v\n", err)
			return
		}
		switch m := msg.(type) {
		case *pgproto3.ReadyForQuery:
			r.status = m.TxStatus
			fmt.Fprintf(&r.out, "ready %c\n", m.TxStatus)
			return
		case *pgproto3.ParameterDescription:
			r.types = append([]uint32(nil), m.ParameterOIDs...)
			fmt.Fprintf(&r.out, "parameters %v\n", m.ParameterOIDs)
		case *pgproto3.RowDescription:
			for i, f := range m.Fields {
				fmt.Fprintf(&r.out, "%s%s:%d:%d:%d:%d", map[bool]string{true: "", false: " | "}[i == 0], f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.Format)
			}
			r.out.WriteString("\n")
		case *pgproto3.DataRow:
			for i, v := range m.Values {
				if i > 0 {
					r.out.WriteString(" | ")
				}
				if v == nil {
					r.out.WriteString("NULL")
				} else {
					fmt.Fprintf(&r.out, "%q", v)
				}
			}
			r.out.WriteString("\n")
		case *pgproto3.CommandComplete:
			fmt.Fprintf(&r.out, "%s\n", m.CommandTag)
		case *pgproto3.ErrorResponse:
			r.out.WriteString(renderResults(nil, pgconn.ErrorResponseToPgError(m)))
			if r.copyIn != nil && m.Where != "" {
				fmt.Fprintf(&r.out, "where %q\n", m.Where)
			}
		case *pgproto3.CopyInResponse:
			fmt.Fprintf(&r.out, "copyin %d %v\n", m.OverallFormat, m.ColumnFormatCodes)
			r.fe.Send(&pgproto3.CopyData{Data: r.copyIn})
			r.fe.Send(&pgproto3.CopyDone{})
			if err := r.fe.Flush(); err != nil {
				fmt.Fprintf(&r.out, "sending: %v\n", err)
				return
			}
		case *pgproto3.NoticeResponse:
			fmt.Fprintf(&r.out, "%s %s: %s\n", m.Severity, m.Code, m.Message)
		case *pgproto3.ParameterStatus:
			fmt.Fprintf(&r.out, "setting %s=%s\n", m.Name, m.Value)
		default:
			fmt.Fprintf(&r.out, "%s\n", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")))
		}
	}
}
