//go:build !pmgdebug

package flow

func (p *Pipeline[J]) check(*row[J], int, *J) {}

func (p *Pipeline[J]) checkNear(*row[J], int) {}
