// Package proc starts the servers that the tests talk to, in such a way that they do not outlive the test process.
package proc
