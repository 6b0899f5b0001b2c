import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { processFiles } from './scripts/architecture.mjs'
import { oneWayImports, processIsAParameter } from './scripts/lint-rules.mjs'

const noEnums = {
  selector: 'TSEnumDeclaration',
  message: 'Use a union of literals, or `as const`.',
}

const conditionalSpreads = [
  'ObjectExpression > SpreadElement > LogicalExpression[operator="&&"]',
  'ObjectExpression > SpreadElement > ConditionalExpression > ObjectExpression[properties.length=0]',
].map((selector) => ({
  selector,
  message: 'Use compact() from src/util/values.ts for fields that may be absent.',
}))

export default defineConfig(
  {
    ignores: [
      'dist/',
      'coverage/',
      '**/node_modules/',
      '.runs/',
      'examples/**/dist/',
      'test/**/fixtures/',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.base],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false } },
      ],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-debugger': 'error',
      'no-restricted-syntax': ['error', noEnums],
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: {
      house: {
        rules: { 'one-way-imports': oneWayImports, 'process-is-a-parameter': processIsAParameter },
      },
    },
    rules: { 'house/one-way-imports': 'error', '@typescript-eslint/no-explicit-any': 'error' },
  },
  {
    files: ['src/**/*.ts', 'dashboard/**/*.{ts,tsx}'],
    rules: {
      'no-nested-ternary': 'error',
      'no-restricted-syntax': ['error', noEnums, ...conditionalSpreads],
    },
  },
  {
    // Step kinds add their type to the interface StepTypes.
    files: ['src/workflow/steps/*.ts', 'src/workflow/definition/model.ts'],
    rules: { '@typescript-eslint/consistent-type-definitions': 'off' },
  },
  {
    files: ['src/core/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        noEnums,
        ...conditionalSpreads,
        {
          selector:
            'AssignmentExpression[left.type="MemberExpression"][left.object.name!="process"][right.type=/^(Arrow)?FunctionExpression$/]',
          message:
            'V8 makes such a function for the old space, where it keeps the whole call: initialise a field, or use a literal or a method.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: processFiles,
    rules: { 'house/process-is-a-parameter': 'error' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // Handlers in tests throw whatever an author might throw.
      '@typescript-eslint/only-throw-error': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'MemberExpression[object.name=/^(test|it|describe)$/][property.name=/^(only|skip|todo|fails|skipIf|runIf)$/]',
          message: 'Every test runs, everywhere.',
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
)
