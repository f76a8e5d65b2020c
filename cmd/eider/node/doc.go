// Package node puts a server together from its options: the storage engine, the store,
// the wire server and the operators' endpoint, and takes it apart again in order.
package node
