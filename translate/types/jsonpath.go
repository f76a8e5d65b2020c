package types

import "github.com/eiderdb/eider/translate/jsonpath"

// jsonpathInput checks a path and writes it in PostgreSQL's normal form, which is its value.
func jsonpathInput(s []byte) (Datum, error) {
	if err := CheckUTF8(s); err != nil {
		return Null, err
	}
	p, err := jsonpath.Parse(string(s))
	if err != nil {
		return Null, err
	}
	quote := func(dst []byte, s string) []byte { return appendJSONString(dst, []byte(s)) }
	number := func(s string) string {
		d, nerr := numericInput([]byte(s), -1)
		if nerr != nil {
			err = nerr
			return s
		}
		return string(AppendText(nil, nil, T{NumericOID, -1}, d))
	}
	text := p.Print(quote, number)
	return Datum{B: []byte(text), Valid: true}, err
}
