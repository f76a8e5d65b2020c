//go:build !unix

package server

const canLook = false

func readable(uintptr) bool { return false }
