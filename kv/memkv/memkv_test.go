package memkv_test

import (
	"testing"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/kvtest"
	"github.com/eiderdb/eider/kv/memkv"
)

func TestConformance(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine { return memkv.New() })
}
