import { describe } from 'vitest'
import { pythonEmitter, shellEmitter } from './fixtures/emitters.ts'
import { inProcess } from './fixtures/in-process.ts'
import { mcpHttp } from './fixtures/mcp-http.ts'
import { mcpStdio } from './fixtures/mcp-stdio.ts'
import { functions } from './fixtures/functions.ts'
import { module } from './fixtures/module.ts'
import { openapi } from './fixtures/openapi.ts'
import { program } from './fixtures/program.ts'
import { toolServer } from './fixtures/tool-server.ts'
import { workflows } from './fixtures/workflows.ts'
import { conformance } from './suite.ts'

describe('[6.conformance] every source', () => {
  for (const fixture of [
    inProcess,
    module,
    functions,
    mcpStdio,
    mcpHttp,
    toolServer,
    openapi,
    program,
    pythonEmitter,
    shellEmitter,
    workflows,
  ])
    conformance(fixture)
})
