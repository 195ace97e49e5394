package keyfile

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", Octets)
	file := filepath.Join(t.TempDir(), "key")
	for text, good := range map[string]bool{
		strings.Repeat("6b", Octets): true, strings.Repeat("6B", Octets) + "\n": true,
		base64.StdEncoding.EncodeToString([]byte(key)) + "\r\n": true,
		"": false, key: false, strings.Repeat("6b", Octets-1): false, strings.Repeat("6b", Octets+1): false,
		strings.Repeat("6b", Octets) + "\nmore": false, strings.Repeat("6b", 10_000): false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(file)
		if good && (err != nil || string(got) != key) || !good && (err == nil || strings.Contains(err.Error(), "kk") || got != nil) {
			t.Errorf("%.40q: %q, %v", text, got, err)
		}
	}
	if _, err := Read(file + ".none"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v", err)
	}
}
