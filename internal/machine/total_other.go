//go:build !linux && !darwin

package machine

func total() int64 { return 0 }
