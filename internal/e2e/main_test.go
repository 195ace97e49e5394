package e2e

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv(childKey) != "" {
		runChild()
		return
	}
	os.Exit(Main(m))
}
