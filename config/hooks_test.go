package config

import (
	"reflect"
	"strings"
	"testing"

	"pmg/plugin"
)

// The configuration knows the hooks that plugins have.
func TestHooks(t *testing.T) {
	t.Parallel()
	at, _ := reflect.TypeFor[Hook]().FieldByName("At")
	if got, want := at.Tag.Get("enum"), strings.Join(plugin.Hooks(), "|"); got != want {
		t.Errorf("hooks of the configuration: %s, of plugins: %s", got, want)
	}
}
