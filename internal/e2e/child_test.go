package e2e

const childKey = "PMG_E2E_CHILD"

func runChild() {}
