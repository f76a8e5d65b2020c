// Package metatest gives tests of maintenance what their lakes consist of: tables in a store, and a way to commit.
package metatest
