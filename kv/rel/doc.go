// Package rel describes relations: schemas, tables, columns, indexes and how their
// rows become keys. Descriptors are rows in the store themselves, so DDL is as
// transactional as DML.
package rel
