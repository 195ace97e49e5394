package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nodes of a cluster compare the keys of their stores by a hash: that of nodes with other keys, or in another order,
// differs, and that of nodes without keys is as it was.
func TestCommonKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("0"+name, 32)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func(node, secret, keys string) string {
		t.Helper()
		file := filepath.Join(dir, "pmg.yaml")
		text := fmt.Sprintf("connectors: []\nstore: {dir: %s%s}\ncluster: {node: %[1]s, servers: [\"nats://127.0.0.1:1\"], secret: %[3]s, unsafe: true}\n",
			node, keys, secret)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := c.Common()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	plain := hash("a", "s", "")
	seen := map[string]bool{plain: true}
	for _, keys := range []string{", key_file: 1", ", key_file: 2", ", key_file: 2, old_key_file: 1", ", key_file: 1, old_key_file: 2"} {
		h := hash("a", "s", keys)
		if seen[h] || hash("b", "s", keys) != h {
			t.Errorf("%s: %s, and %s on another node", keys, h, hash("b", "s", keys))
		}
		seen[h] = true
		if !strings.HasPrefix(h, plain+"-") {
			t.Errorf("the hash of the rest is not seen in %s: it is %s", h, plain)
		}
		if _, other, _ := strings.Cut(hash("a", "another", keys), "-"); strings.HasSuffix(h, other) {
			t.Error("the hash of the keys does not depend on the secret")
		}
	}
}
