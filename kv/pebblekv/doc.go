// Package pebblekv is the kv.Engine on disk, over Pebble. See kv/DESIGN.md for what it
// does when the disk is full or a write fails half-way.
package pebblekv
