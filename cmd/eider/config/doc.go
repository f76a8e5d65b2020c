// Package config holds what an operator can set: one struct, whose fields are at once
// flags of "eider serve", environment variables (EIDER_ and the flag's name in capitals)
// and keys of a YAML file. A flag wins over the environment, the environment over the
// file, the file over the default.
//
// The package also renders the reference of the options from the same struct.
package config
