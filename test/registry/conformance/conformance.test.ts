import { inProcess } from './fixtures/in-process.ts'
import { module } from './fixtures/module.ts'
import { conformance } from './suite.ts'

for (const fixture of [inProcess, module]) conformance(fixture)
