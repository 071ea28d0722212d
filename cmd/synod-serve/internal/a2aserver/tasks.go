package a2aserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// tasks keeps tasks in the gateway's store. A task belongs to the key that has sent its first message.
type tasks struct {
	store *store.Store

	mu   sync.Mutex
	here map[a2a.TaskID]bool // tasks that this process executes
}

func (t *tasks) begin(id a2a.TaskID) { t.mu.Lock(); t.here[id] = true; t.mu.Unlock() }
func (t *tasks) end(id a2a.TaskID)   { t.mu.Lock(); delete(t.here, id); t.mu.Unlock() }

// kind tells tasks of this protocol from those of others in the store.
const kind = "a2a:"

// mostListed bounds how many tasks of a key are looked at for a list.
const mostListed = 1000

// Create keeps a new task.
func (t *tasks) Create(ctx context.Context, task *a2a.Task) (taskstore.TaskVersion, error) {
	b, err := json.Marshal(task)
	if err != nil {
		return 0, err
	}
	err = t.store.NewTask(kind+string(task.ID), callerOf(ctx).key, b)
	if errors.Is(err, store.ErrTaskExists) {
		return 0, taskstore.ErrTaskAlreadyExists
	}
	return 1, err
}

// Update changes a task from the version that the caller has seen.
func (t *tasks) Update(ctx context.Context, u *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	b, err := json.Marshal(u.Task)
	if err != nil {
		return 0, err
	}
	v, err := t.store.ChangeTask(kind+string(u.Task.ID), callerOf(ctx).key, int64(u.PrevVersion), b)
	switch {
	case errors.Is(err, store.ErrNoTask):
		return 0, a2a.ErrTaskNotFound
	case errors.Is(err, store.ErrTaskChanged):
		return 0, taskstore.ErrConcurrentModification
	}
	return taskstore.TaskVersion(v), err
}

// Get returns a task of the caller.
func (t *tasks) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	kept, err := t.store.Task(ctx, kind+string(id), callerOf(ctx).key)
	if errors.Is(err, store.ErrNoTask) {
		return nil, a2a.ErrTaskNotFound
	}
	if err != nil {
		return nil, err
	}
	task, err := t.read(ctx, kept)
	return &taskstore.StoredTask{Task: task, Version: taskstore.TaskVersion(kept.Version)}, err
}

// read decodes a task. One whose gateway has ended while it worked has failed.
func (t *tasks) read(ctx context.Context, kept store.Task) (*a2a.Task, error) {
	var task a2a.Task
	if err := json.Unmarshal(kept.Body, &task); err != nil {
		return nil, fmt.Errorf("a task in the store cannot be read: %w", err)
	}
	t.mu.Lock()
	here := t.here[task.ID]
	t.mu.Unlock()
	if here || task.Status.State != a2a.TaskStateWorking && task.Status.State != a2a.TaskStateSubmitted {
		return &task, nil
	}
	request, _ := task.Metadata[requestKey].(string)
	lost, err := t.store.Abandoned(ctx, request)
	if err != nil {
		return nil, err
	}
	if lost {
		task.Status = a2a.TaskStatus{State: a2a.TaskStateFailed, Timestamp: task.Status.Timestamp,
			Message: a2a.NewMessageForTask(a2a.MessageRoleAgent, &task, a2a.NewTextPart("run_lost: the gateway "+
				"was ended "+
				"while the council worked; send the question again"))}
	}
	return &task, nil
}

// List returns the caller's tasks, the newest first.
func (t *tasks) List(ctx context.Context, q *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	kept, err := t.store.Tasks(ctx, callerOf(ctx).key, kind, mostListed)
	if err != nil {
		return nil, err
	}
	all := []*a2a.Task{}
	for _, one := range kept {
		task, err := t.read(ctx, one)
		if err != nil {
			return nil, err
		}
		if q.ContextID != "" && q.ContextID != task.ContextID || q.Status != "" && q.Status != task.Status.State ||
			q.StatusTimestampAfter != nil && !changedAfter(task, *q.StatusTimestampAfter) {
			continue
		}
		all = append(all, task)
	}
	size := q.PageSize
	if size == 0 {
		size = 50
	}
	if size < 1 || size > 100 {
		return nil, fmt.Errorf("pageSize is %d; it must be between 1 and 100: %w", size, a2a.ErrInvalidParams)
	}
	page, next, err := pageOf(all, q.PageToken, size)
	for _, task := range page {
		if !q.IncludeArtifacts {
			task.Artifacts = nil
		}
		if n := q.HistoryLength; n != nil {
			task.History = task.History[max(0, len(task.History)-max(*n, 0)):]
		}
	}
	return &a2a.ListTasksResponse{Tasks: page, TotalSize: len(all), PageSize: size, NextPageToken: next}, err
}

func changedAfter(task *a2a.Task, at time.Time) bool {
	return task.Status.Timestamp != nil && task.Status.Timestamp.After(at)
}

// pageOf returns the tasks after the one that a token names.
func pageOf(all []*a2a.Task, token string, size int) (page []*a2a.Task, next string, err error) {
	from := 0
	if token != "" {
		if from = 1 + slices.IndexFunc(all, func(t *a2a.Task) bool { return string(t.ID) == token }); from == 0 {
			return nil, "", fmt.Errorf("there is no page %.60q: %w", token, a2a.ErrInvalidParams)
		}
	}
	page = all[from:min(from+size, len(all))]
	if from+size < len(all) {
		next = string(page[len(page)-1].ID)
	}
	return page, next, nil
}
