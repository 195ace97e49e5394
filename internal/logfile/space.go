package logfile

import (
	"fmt"
	"syscall"
)

// diskSpace returns how many bytes of the disk with path are free for users, and the size of
// the disk.
func diskSpace(path string) (free, size int64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, 0, fmt.Errorf("cannot get free space of disk: %w", err)
	}
	block := int64(st.Bsize)
	return int64(st.Bavail) * block, int64(st.Blocks) * block, nil
}
