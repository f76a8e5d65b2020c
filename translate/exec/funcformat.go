package exec

func formatFuncs() []Func { return nil }
