// Package strictyaml reads YAML (and with it JSON) into structs and takes nothing that they do
// not have: a key nobody knows is an error with its line and the key that may have been meant.
package strictyaml
