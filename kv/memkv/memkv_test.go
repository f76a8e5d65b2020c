package memkv_test

import (
	"testing"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/kvtest"
	"github.com/eiderdb/eider/kv/memkv"
)

func TestConformance(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine { return memkv.New() })
	t.Run("spoil", func(t *testing.T) {
		kvtest.Run(t, func(*testing.T) kv.Engine { return kvtest.Spoil(memkv.New()) })
	})
}
