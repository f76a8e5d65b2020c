// Package storetest gives tests of what is above the store a store of their own.
package storetest
