package pdulog

import (
	"fmt"
	"syscall"
)

// diskSpace returns how many bytes of the disk that holds path a user may still fill,
// and how many it has.
func diskSpace(path string) (free, size int64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, 0, fmt.Errorf("cannot find out how much of the disk is free: %w", err)
	}
	block := int64(st.Bsize)
	return int64(st.Bavail) * block, int64(st.Blocks) * block, nil
}
