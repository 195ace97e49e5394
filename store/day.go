package store

// DayLength is the length of the days by which a store keeps what ids stand for.
const DayLength = int64(24 * 3600e9)

// DayOf returns the day of a time by the wall clock.
func DayOf(wall int64) uint32 { return uint32(max(wall, 0) / DayLength) }
