// Imported by tests that start many programs along ways that other tests cover too: writing
// coverage is nearly half of what a start costs.
// Node hands the variable on to every child, whatever environment the child is given, as long as it
// is set here.
delete process.env['NODE_V8_COVERAGE']

export {}
