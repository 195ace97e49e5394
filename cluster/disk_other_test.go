//go:build !linux

package cluster

import "testing"

func smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("a small disk is made on Linux alone")
	return ""
}
