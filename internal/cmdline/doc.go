// Package cmdline has what the command lines of Eider's programs share: how they refuse wrong
// use.
package cmdline
