// Package kvtest is the conformance suite of kv.Engine. Every engine's tests call Run.
package kvtest
