import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

// What stands here is public for years: a change of these lists is a change for every user.
test('the values of toolable', async () => {
  expect(Object.keys(await import('toolable')).sort()).toEqual([
    'ERROR_TABLE', 'ToolError', 'agent', 'aiSdkModel', 'call', 'content', 'createBudget', 'createHandler', 'createState', 'fail', 'fileTools', 'folderFiles', 'functionTools',
    'guard', 'guards', 'isTool', 'jsonSchema', 'keepPlan', 'member', 'memoryFiles', 'ok', 'openaiModel', 'partial', 'planSlice', 'planner', 'planning',
    'planningInstructions', 'planningTools', 'prompt', 'protocolError', 'readStateFile', 'registry', 'resource', 'runner', 'section', 'sections', 'session',
    'skillSection', 'slice', 'stream', 'toNode', 'tool', 'toolset', 'toolsetSection', 'withStateFile', 'workflow', 'workflows',
  ])
})

test('the types of toolable', () => {
  expect(typesOf('index.d.ts')).toEqual([
    'Agent', 'AgentEvent', 'AgentMessage', 'AgentOptions', 'AgentPrompt', 'AgentResult', 'AgentRunOptions', 'AgentStatus', 'AiSdkLanguageModel', 'Annotations',
    'Answerer', 'AnthropicTool', 'AnyErrorCode', 'AnyTool', 'AnyWorkflow', 'ApprovalRequest', 'Approve', 'Artifact', 'Ask', 'AudioContent', 'Budget',
    'BudgetDimension', 'BudgetLimits', 'BuiltStep', 'BuiltStepOptions', 'BuiltWorkflow', 'BuiltWorkflowOptions', 'CallEvent', 'CallOptions', 'ChangeListener',
    'Checkpoint', 'Completer', 'Completers', 'ConfirmQuestion', 'ContentAnnotations', 'ContentBlock', 'Context', 'Conversion', 'Deadline', 'DecisionQuestion', 'DeclaredError',
    'Duration', 'EmbeddedResource', 'ErrorCategory', 'ErrorClass', 'ErrorCode', 'ErrorObject', 'ErrorRow', 'Example', 'Execution', 'ExecutionHandle', 'ExportNote',
    'ExportOptions', 'FailOptions', 'FailureOutcome', 'FileEntry', 'FileToolName', 'FileToolsOptions', 'FilesOptions', 'Filesystem', 'Filter', 'FilterInput',
    'FlagOptions', 'FolderFilesOptions', 'FolderOptions', 'FoundLine', 'FunctionManifest', 'FunctionParameter', 'FunctionProblem', 'GeminiTool', 'Given', 'Guard', 'GuardedCall', 'Handler', 'HandlerOptions', 'ImageContent',
    'InputQuestion', 'Interaction', 'InteractionOption', 'Invocation', 'Json', 'JsonObject', 'JsonSchema', 'LazySchema', 'ListedResource', 'ListedTool', 'LoadModule', 'LogLevel',
    'McpOptions', 'McpServerConfig', 'McpTool', 'Member', 'MemoryFiles', 'MemoryFilesInput', 'MemoryFilesJson', 'MemoryFilesOptions', 'Model', 'ModelCall',
    'ModelReply', 'ModelRequest', 'ModelSettings', 'ModuleManifest', 'ModuleOptions', 'ModuleToolsetOptions', 'NodeHandler', 'ObjectConversion', 'ObjectField', 'OpenAiModelOptions', 'OpenAiResponsesTool', 'OpenAiTool', 'OpenApiOptions',
    'Outcome', 'OutcomeMeta', 'Page', 'PageOptions', 'PartialError', 'PartialOutcome', 'PartialSummary', 'Permissions', 'Plan', 'PlanKeeper', 'PlanStep',
    'PlannedAction', 'PlanningOptions', 'PlanningStrategy', 'Problem', 'ProgramOptions', 'Prompt', 'PromptArgument', 'PromptContext', 'PromptManifest',
    'PromptMessage', 'PromptOptions', 'PromptText', 'PromptView', 'ReadingContext', 'Reducer', 'Ref', 'Refusal', 'Registry', 'RegistryOptions', 'RenderOptions',
    'RenderedAgentPrompt', 'RenderedPrompt', 'RenderedTool', 'Reply', 'ReplyOptions', 'Resource', 'ResourceContent', 'ResourceContext', 'ResourceLink',
    'ResourceManifest', 'ResourceOptions', 'Resources', 'ResultEvent', 'Root', 'RootsProvider', 'RunEvent', 'RunHandle', 'RunInput', 'RunOptions', 'RunState',
    'RunSummary', 'Runner', 'RunnerOptions', 'SampleOptions', 'SampleRequest', 'Sampler', 'SchemaSource', 'Section', 'SectionContext', 'SectionOptions',
    'SectionVisibility', 'SectionedPrompt', 'SectionsOptions', 'Servable', 'Session', 'SessionAnswer', 'SkillSectionOptions', 'Slice', 'SliceView', 'Snapshotable',
    'SourceState', 'StandardSchema', 'State', 'StateFile', 'StateFileOptions', 'StateJson', 'StateOptions', 'StateSnapshot', 'StepChange', 'StepError',
    'StepsBuilder', 'Stream', 'SuccessOutcome', 'Suggestion', 'SuggestionInput', 'TextContent', 'TextConversion', 'Tier', 'TokenUsage', 'Tool', 'ToolDescription', 'ToolEvent',
    'ToolInvokedEvent', 'ToolManifest', 'ToolMessage', 'ToolOptions', 'ToolServerOptions', 'ToolTree', 'Toolset', 'ToolsetChange', 'ToolsetManifest',
    'ToolsetOptions', 'ToolsetSectionOptions', 'TransactionPart', 'Transactional', 'TypedJsonSchema', 'Workflow', 'WorkflowBuilder', 'WorkflowData', 'WorkflowHostOptions',
    'WorkflowItem', 'WorkflowStep', 'Workflows', 'WorkflowsOptions',
  ])
})

test('the names of toolable/zod', async () => {
  expect(Object.keys(await import('toolable/zod')).sort()).toEqual(['path'])
  expect(typesOf('zod.d.ts')).toEqual(['PathRules'])
})

test('the names of toolable/testing', async () => {
  expect(Object.keys(await import('toolable/testing')).sort()).toEqual(['callTool', 'expectPureStdout', 'runCli', 'schemaSnapshot', 'scriptedModel'])
  expect(typesOf('testing/index.d.ts')).toEqual(['Answers', 'CallToolOptions', 'CallToolResult', 'CliResult', 'PrintedOutput', 'PureStdoutOptions', 'RunCliOptions', 'Samples', 'ScriptedModel', 'ScriptedReply'])
})

test('the entries of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { exports: object; type: string }
  expect(Object.keys(manifest.exports)).toEqual(['.', './zod', './testing', './package.json'])
  expect(manifest.type).toBe('module')
})

/** The names that a declaration file exports as types only. */
function typesOf(file: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../dist/types/${file}`, import.meta.url)), 'utf8')
  const exported = ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements.filter(ts.isExportDeclaration)
  return exported
    .filter(({ isTypeOnly }) => isTypeOnly)
    .flatMap(({ exportClause }) => (exportClause && ts.isNamedExports(exportClause) ? exportClause.elements.map((element) => element.name.text) : ['*']))
    .sort()
}
