// Observe the binaries of `go test`: it runs them, and is their parent. What ends one of them is
// known from the kernel, and which lines ran comes through a pipe, with a word that is in no source.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var folder, mark = func() (string, string) {
	own, _ := os.Executable()
	return filepath.Dir(own), filepath.Base(filepath.Dir(own))
}()

func main() {
	if len(os.Args) < 2 {
		prepare()
		return
	}
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	code := 0
	if os.Getenv("NIGHTWATCH_RAISES") != "" {
		code = raising(os.Args[1:])
	} else {
		code = watching(os.Args[1:])
	}
	os.Exit(code)
}

// The flags of `go`: it starts each test through this program, and compiles watched files with probes.
func prepare() {
	flags := "-exec=" + folder + "/observer"
	replaced := map[string]string{}
	for _, row := range strings.Split(os.Getenv("NIGHTWATCH_WATCHED"), "\n") {
		at := strings.LastIndex(row, ":")
		if at < 0 || !strings.HasSuffix(row[:at], ".go") {
			continue
		}
		lines := map[int]bool{}
		for _, one := range strings.Split(row[at+1:], ",") {
			number, _ := strconv.Atoi(one)
			lines[number] = true
		}
		path := row[:at]
		text, name, loads := probed(path, lines)
		if text == "" {
			continue
		}
		helper := filepath.Join(filepath.Dir(path), "zz_"+mark+".go")
		replaced[path] = written(len(replaced), text)
		if replaced[helper] == "" || loads {
			replaced[helper] = written(len(replaced), helperOf(name, loads))
		}
	}
	if len(replaced) > 0 {
		overlay, _ := json.Marshal(map[string]map[string]string{"Replace": replaced})
		os.WriteFile(folder+"/overlay.json", overlay, 0o600)
		flags += " -vet=off -overlay=" + folder + "/overlay.json" // vet knows no overlay
	}
	os.WriteFile(folder+"/flags", []byte(flags), 0o600)
}

func written(number int, text string) string {
	path := fmt.Sprintf("%s/%d.go", folder, number)
	os.WriteFile(path, []byte(text), 0o600)
	return path
}

func helperOf(name string, loads bool) string {
	text := "package " + name + "\n\nimport (\n\tMARKos \"os\"\n\tMARKsync \"sync\"\n)\n\n" +
		"var MARKonce MARKsync.Once\n\n" +
		"func MARK() { MARKonce.Do(func() { MARKos.NewFile(3, \"\").WriteString(\"MARK\") }) }\n"
	if loads {
		text += "\nvar _ = func() int { MARK(); return 0 }()\n"
	}
	return strings.ReplaceAll(text, "MARK", mark)
}

// The text with a call before each statement that has a watched line, in the line itself; whether
// watched lines are run as the package is loaded.
func probed(path string, watched map[int]bool) (string, string, bool) {
	text, _ := os.ReadFile(path)
	set := token.NewFileSet()
	file, wrong := parser.ParseFile(set, path, text, 0)
	if wrong != nil {
		return "", "", false
	}
	loads, at := false, map[int]bool{}
	hit := func(first, last token.Pos) bool {
		for line := set.PositionFor(first, false).Line; line <= set.PositionFor(last, false).Line; line++ {
			if watched[line] {
				return true
			}
		}
		return false
	}
	probe := func(is bool, place token.Pos) {
		if is {
			at[set.PositionFor(place, false).Offset] = true
		}
	}
	statements := func(list []ast.Stmt) {
		for _, one := range list {
			switch one.(type) {
			case *ast.CaseClause, *ast.CommClause:
			default:
				probe(hit(one.Pos(), headOf(one)), one.Pos())
			}
		}
	}
	for _, one := range file.Imports {
		if one.Path.Value == `"C"` {
			return "", "", false
		}
	}
	for _, one := range file.Decls {
		general, is := one.(*ast.GenDecl)
		loads = loads || is && (general.Tok == token.VAR || general.Tok == token.CONST) && hit(one.Pos(), one.End())
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch one := node.(type) {
		case *ast.FuncDecl:
			if one.Body != nil {
				probe(hit(one.Pos(), one.Body.Lbrace), one.Body.Lbrace+1)
			}
		case *ast.FuncLit:
			probe(hit(one.Pos(), one.Body.Lbrace), one.Body.Lbrace+1)
		case *ast.BlockStmt:
			statements(one.List)
		case *ast.CaseClause:
			probe(hit(one.Case, one.Colon), one.Colon+1)
			statements(one.Body)
		case *ast.CommClause:
			probe(hit(one.Case, one.Colon), one.Colon+1)
			statements(one.Body)
		case *ast.IfStmt:
			if other, is := one.Else.(*ast.IfStmt); is {
				probe(hit(other.Pos(), other.Body.Lbrace), other.Body.Lbrace+1)
			}
		}
		return true
	})
	if len(at) == 0 && !loads {
		return "", "", false
	}
	places := []int{}
	for one := range at {
		places = append(places, one)
	}
	sort.Sort(sort.Reverse(sort.IntSlice(places)))
	whole := string(text)
	for _, one := range places {
		whole = whole[:one] + mark + "();" + whole[one:]
	}
	return whole, file.Name.Name, loads
}

// Where the head of a statement ends: what it holds has statements of its own.
func headOf(statement ast.Stmt) token.Pos {
	switch one := statement.(type) {
	case *ast.IfStmt:
		return one.Body.Lbrace
	case *ast.ForStmt:
		return one.Body.Lbrace
	case *ast.RangeStmt:
		return one.Body.Lbrace
	case *ast.SwitchStmt:
		return one.Body.Lbrace
	case *ast.TypeSwitchStmt:
		return one.Body.Lbrace
	case *ast.SelectStmt:
		return one.Body.Lbrace
	case *ast.LabeledStmt:
		return headOf(one.Stmt)
	case *ast.BlockStmt:
		return one.Lbrace
	}
	return statement.End() - 1
}

// Run a binary as `go test` asks for; whether it ran a probe.
func run(words []string, out io.Writer, most time.Duration, more ...string) (*os.ProcessState, bool) {
	command := exec.Command(words[0], words[1:]...)
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "NIGHTWATCH_") && !strings.HasPrefix(one, "GOFLAGS=") {
			command.Env = append(command.Env, one)
		}
	}
	command.Env = append(append(command.Env, "GOFLAGS="+os.Getenv("NIGHTWATCH_GOFLAGS")), more...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, out, out
	reading, writing, wrong := os.Pipe()
	if wrong != nil {
		return nil, false
	}
	command.ExtraFiles = []*os.File{writing}
	if command.Start() != nil {
		return nil, false
	}
	writing.Close()
	said := make(chan bool, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(reading, 1<<16))
		said <- bytes.Contains(text, []byte(mark))
		io.Copy(io.Discard, reading)
	}()
	if most > 0 {
		defer time.AfterFunc(most, func() { command.Process.Kill() }).Stop()
	}
	command.Wait()
	select {
	case ran := <-said:
		return command.ProcessState, ran
	case <-time.After(time.Second): // a program that it left behind holds the pipe
		return command.ProcessState, false
	}
}

func codeOf(state *os.ProcessState) int {
	if state == nil || state.ExitCode() < 0 {
		return 2
	}
	return state.ExitCode()
}

// The tests of a binary that run a watched line: it is run as asked, then each test by itself.
func watching(words []string) int {
	started := time.Now()
	state, ran := run(words, os.Stdout, 0)
	if !ran {
		return codeOf(state)
	}
	end := time.Now().Add(time.Since(started) + 5*time.Second)
	pattern, others := "^(Test|Example|Fuzz)", []string{}
	for _, one := range words[1:] {
		if strings.HasPrefix(one, "-test.run=") {
			pattern = one[len("-test.run="):]
		} else if one != "-test.v=true" {
			others = append(others, one)
		}
	}
	alone := func(name string) (bool, bool) {
		asked := append([]string{words[0], "-test.run=" + name}, others...)
		state, ran := run(asked, io.Discard, time.Until(end))
		return codeOf(state) == 0, ran
	}
	found := []string{}
	if _, loads := alone("^$"); !loads { // else no test is told from another
		listed := bytes.Buffer{}
		run([]string{words[0], "-test.list=" + pattern}, &listed, time.Until(end))
		for _, name := range strings.Fields(listed.String()) {
			if time.Now().After(end) {
				break
			}
			if green, ran := alone("^" + name + "$"); green && ran {
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		found = []string{""}
	}
	for _, name := range found {
		write(map[string]string{"ran": filepath.Base(words[0]), "test": name})
	}
	return codeOf(state)
}

var (
	running = regexp.MustCompile(`(?m)^goroutine \d+ [^\n]*\[running[^\n]*\n`)
	begins  = regexp.MustCompile(`(?m)^(panic|fatal error): `)
	noise   = regexp.MustCompile(`(?m) fp=0x\w+ sp=0x\w+ pc=0x\w+$`)
)

// What ended a binary: it has aborted, so what stands last in its output is of the runtime.
func raising(words []string) int {
	said := bytes.Buffer{}
	state, _ := run(words, &said, 0, "GOTRACEBACK=crash")
	text := noise.ReplaceAllString(said.String(), "")
	aborted := false
	if state != nil {
		status, is := state.Sys().(syscall.WaitStatus)
		aborted = is && status.Signaled() && status.Signal() == syscall.SIGABRT
	}
	if from, to := crashIn(text); aborted && from < to {
		write(map[string]string{"trace": text[from:to]})
		text = text[:to] + "\n"
	}
	io.WriteString(os.Stdout, text)
	return codeOf(state)
}

func crashIn(text string) (int, int) {
	found := running.FindAllStringIndex(text, -1)
	for at := len(found) - 1; at >= 0; at-- {
		head, body := found[at][0], found[at][1]
		if strings.HasPrefix(text[body:], "\tgoroutine running on other thread") {
			continue
		}
		starts := begins.FindAllStringIndex(text[:head], -1)
		end := strings.Index(text[body:], "\n\n")
		if end < 0 {
			end = len(text) - body
		}
		if len(starts) == 0 {
			return 0, 0
		}
		return starts[len(starts)-1][0], body + end
	}
	return 0, 0
}

func write(record map[string]string) {
	row, _ := json.Marshal(record)
	file, wrong := os.OpenFile(folder+"/raised", os.O_APPEND|os.O_WRONLY, 0o600)
	if wrong == nil {
		file.Write(append(row, '\n'))
		file.Close()
	}
}
