export { agent } from './agent/agent.ts'
export { aiSdkModel } from './agent/models/ai-sdk.ts'
export { openaiModel } from './agent/models/openai.ts'
export type { OpenAiModelOptions } from './agent/models/openai.ts'
export type {
  Agent,
  AgentEvent,
  AgentMessage,
  AgentOptions,
  AgentPrompt,
  AgentResult,
  AgentRunOptions,
  AgentStatus,
  AiSdkLanguageModel,
  ApprovalRequest,
  Approve,
  Model,
  ModelCall,
  ModelReply,
  ModelRequest,
  ModelSettings,
  RenderedAgentPrompt,
} from './agent/types.ts'
export { toolset } from './cli/toolset.ts'
export type {
  ChangeListener,
  ModuleToolsetOptions,
  Toolset,
  ToolsetChange,
  ToolsetOptions,
} from './cli/types.ts'
export { createBudget } from './core/budget.ts'
export type { CallOptions } from './core/call.ts'
export { fileTools } from './core/files/file-tools.ts'
export type { FileToolName, FileToolsOptions } from './core/files/file-tools.ts'
export { folderFiles, memoryFiles } from './core/files/files.ts'
export type { MemoryFiles, MemoryFilesInput, MemoryFilesJson } from './core/files/memory.ts'
export type { FilesOptions, FolderFilesOptions, MemoryFilesOptions } from './core/files/read.ts'
export { guard, guards } from './core/guards/guards.ts'
export type { Servable, ToolTree } from './core/provider.ts'
export type { StateFile, StateFileOptions } from './core/state/open-state-file.ts'
export { member, readStateFile, slice, withStateFile } from './core/state/state-api.ts'
export { createState } from './core/state/state.ts'
export type { StateOptions } from './core/state/state.ts'
export { call, isTool, tool } from './core/tool.ts'
export type { AnyTool, Tool } from './core/tool.ts'
export type { Completer, Completers } from './define/checks.ts'
export { prompt } from './define/prompt.ts'
export type {
  Prompt,
  PromptContext,
  PromptMessage,
  PromptOptions,
  PromptText,
} from './define/prompt.ts'
export { protocolError } from './define/protocol-error.ts'
export { resource } from './define/resource.ts'
export type {
  ListedResource,
  Resource,
  ResourceContent,
  ResourceContext,
  ResourceOptions,
} from './define/resource.ts'
export { content, ok, partial, session, stream } from './define/results.ts'
export type {
  PartialError,
  Reply,
  ReplyOptions,
  Session,
  SessionAnswer,
  Stream,
} from './define/results.ts'
export { jsonSchema } from './define/schema/source.ts'
export type { LazySchema, SchemaSource, StandardSchema } from './define/schema/source.ts'
export type { ToolOptions } from './define/tool-types.ts'
export { functionTools } from './functions/function-tools.ts'
export type { LoadModule } from './functions/function-tools.ts'
export type {
  Conversion,
  FunctionManifest,
  FunctionParameter,
  FunctionProblem,
  ModuleManifest,
  ObjectConversion,
  ObjectField,
  TextConversion,
} from './functions/manifest.ts'
export { createHandler, toNode } from './http/create-handler.ts'
export type { Handler, HandlerOptions, NodeHandler } from './http/options.ts'
export { planSlice } from './prompts/plan-slice.ts'
export type { PlanningStrategy } from './prompts/plan-slice.ts'
export type { PlanKeeper, StepChange } from './prompts/plan.ts'
export {
  keepPlan,
  planner,
  planning,
  planningInstructions,
  planningTools,
} from './prompts/planning.ts'
export type { PlanningOptions } from './prompts/planning.ts'
export type {
  RenderedPrompt,
  RenderedTool,
  RenderOptions,
  SectionedPrompt,
  SectionsOptions,
} from './prompts/section-tree.ts'
export { section, toolsetSection } from './prompts/section.ts'
export type {
  Section,
  SectionContext,
  SectionOptions,
  SectionVisibility,
  SkillSectionOptions,
  ToolsetSectionOptions,
} from './prompts/section.ts'
export { sections } from './prompts/sections.ts'
export { skillSection } from './prompts/skill-section.ts'
export type {
  Ask,
  Checkpoint,
  ConfirmQuestion,
  Context,
  Deadline,
  DecisionQuestion,
  Guard,
  GuardedCall,
  InputQuestion,
  PlannedAction,
  PromptView,
  ReadingContext,
  Refusal,
  SampleOptions,
} from './protocol/context.ts'
export { ERROR_TABLE } from './protocol/errors.ts'
export type {
  DeclaredError,
  ErrorCategory,
  ErrorClass,
  ErrorCode,
  ErrorRow,
} from './protocol/errors.ts'
export type {
  Answerer,
  CallEvent,
  Interaction,
  InteractionOption,
  Invocation,
  LogLevel,
  ResultEvent,
  Root,
  RootsProvider,
  Sampler,
  SampleRequest,
  ToolEvent,
  ToolInvokedEvent,
} from './protocol/events.ts'
export type {
  Budget,
  BudgetDimension,
  BudgetLimits,
  Duration,
  TokenUsage,
} from './protocol/limits.ts'
export type {
  Annotations,
  Example,
  FlagOptions,
  McpOptions,
  Permissions,
  PromptArgument,
  PromptManifest,
  ResourceManifest,
  ToolManifest,
  ToolsetManifest,
} from './protocol/manifest.ts'
export type {
  Artifact,
  AudioContent,
  ContentAnnotations,
  ContentBlock,
  EmbeddedResource,
  ErrorObject,
  FailureOutcome,
  ImageContent,
  Outcome,
  OutcomeMeta,
  PartialOutcome,
  PartialSummary,
  ResourceLink,
  SuccessOutcome,
  Suggestion,
  TextContent,
} from './protocol/outcome.ts'
export type { Plan, PlanStep } from './protocol/plan.ts'
export type {
  AnthropicTool,
  ExportNote,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from './protocol/providers/export-tools.ts'
export type { ToolMessage } from './protocol/providers/tool-messages.ts'
export type { RunEvent, RunState } from './protocol/run-state.ts'
export type {
  FileEntry,
  Filesystem,
  FoundLine,
  Member,
  Page,
  PageOptions,
  Reducer,
  Resources,
  Slice,
  SliceView,
  Snapshotable,
  State,
  StateJson,
  StateSnapshot,
  Transactional,
  TransactionPart,
} from './protocol/state.ts'
export { fail, ToolError } from './protocol/tool-error.ts'
export type { AnyErrorCode, FailOptions, SuggestionInput } from './protocol/tool-error.ts'
export type { Filter, FilterInput } from './registry/filter.ts'
export type { McpServerConfig } from './registry/mcp/transports.ts'
export type { Problem, Tier } from './registry/source.ts'
export type { FolderOptions } from './registry/sources/folder.ts'
export type { ModuleOptions } from './registry/sources/module.ts'
export type { OpenApiOptions } from './registry/sources/openapi.ts'
export type { ProgramOptions } from './registry/sources/program.ts'
export type { ToolServerOptions } from './registry/sources/tool-server.ts'
export type { ListedTool, Registry, SourceState, ToolDescription } from './registry/types.ts'
export type { RunHandle, RunInput, Runner, RunnerOptions, RunOptions } from './runner/request.ts'
export { runner } from './runner/runner.ts'
export type { Json, JsonObject, JsonSchema, TypedJsonSchema } from './util/values.ts'
export type { RunSummary } from './views/model/run-summary.ts'
export type { Given, Ref } from './workflow/builder-refs.ts'
export type { Workflow, WorkflowData } from './workflow/definition/model.ts'
export type { Execution, ExecutionHandle, StepError } from './workflow/engine.ts'
export { registry } from './workflow/registry.ts'
export type { WorkflowStep } from './workflow/steps/table.ts'
export type {
  AnyWorkflow,
  BuiltStep,
  BuiltStepOptions,
  BuiltWorkflow,
  BuiltWorkflowOptions,
  RegistryOptions,
  StepsBuilder,
  WorkflowBuilder,
  WorkflowHostOptions,
  WorkflowItem,
  Workflows,
  WorkflowsOptions,
} from './workflow/workflow-types.ts'
export { workflow } from './workflow/workflow.ts'
export { workflows } from './workflow/workflows.ts'
