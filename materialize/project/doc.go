// Package project reads a folder of scripts: their headers and statements, the settings in
// materialize.yaml, the macros and tests that scripts share. What is wrong is told as problems,
// each with its file, its line and what to do; a script with one is not run.
package project
