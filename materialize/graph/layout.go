package graph

import (
	"cmp"
	"math"
	"slices"
)

// Sizes of the picture, in CSS pixels.
const (
	rankGap    = 72.0 // between the boxes of two ranks
	boxGap     = 22.0 // between two boxes of a rank
	wireGap    = 12.0 // between a wire that passes a rank and its neighbours
	margin     = 20.0
	portSpread = 9.0 // between two wires at one box, at most
)

// box is a node of the picture, or a place where a wire passes a rank.
type box struct {
	node   int // index of what is drawn; -1 for a wire
	rank   int
	x, y   float64 // left upper corner
	w, h   float64
	in     []int // boxes of the rank before
	out    []int
	wanted float64
}

func (b *box) middle() float64 { return b.y + b.h/2 }

// wire is an edge of the picture: the boxes that it leads through, from the box that feeds
// to the box that is fed, unless it is turned round.
type wire struct {
	edge   int // index of the link that is drawn
	turned bool
	path   []int // boxes
}

// layout is where everything is.
type layout struct {
	boxes         []box
	wires         []wire
	width, height float64
}

// size is that of a node to be placed.
type size struct{ w, h float64 }

// place finds places in layers, from left to right: ranks by the longest way from where it
// begins, order within them by barycentres so that wires cross little, heights so that wires
// are straight and nothing overlaps. links are pairs of indexes; those that close a circle
// are turned round. The result depends on the order of what is given and nothing else.
func place(sizes []size, links [][2]int) *layout {
	l := &layout{}
	forward, turned := acyclic(len(sizes), links)
	ranks := rank(len(sizes), forward)
	for i, s := range sizes {
		l.boxes = append(l.boxes, box{node: i, rank: ranks[i], w: s.w, h: s.h})
	}
	for e, f := range forward {
		w := wire{edge: e, turned: turned[e], path: []int{f[0]}}
		for r := ranks[f[0]] + 1; r < ranks[f[1]]; r++ {
			l.boxes = append(l.boxes, box{node: -1, rank: r})
			w.path = append(w.path, len(l.boxes)-1)
		}
		w.path = append(w.path, f[1])
		for k := 1; k < len(w.path); k++ {
			a, b := w.path[k-1], w.path[k]
			l.boxes[a].out = append(l.boxes[a].out, b)
			l.boxes[b].in = append(l.boxes[b].in, a)
		}
		l.wires = append(l.wires, w)
	}
	layers := l.order()
	l.across(layers)
	l.down(layers)
	return l
}

// acyclic turns the links round that lead back to where a search in depth comes from.
func acyclic(n int, links [][2]int) (forward [][2]int, turned []bool) {
	out := make([][]int, n) // indexes of links
	for e, l := range links {
		out[l[0]] = append(out[l[0]], e)
	}
	forward, turned = slices.Clone(links), make([]bool, len(links))
	const entered, left = 1, 2
	state := make([]int, n)
	var visit func(int)
	visit = func(i int) {
		state[i] = entered
		for _, e := range out[i] {
			switch j := links[e][1]; state[j] {
			case 0:
				visit(j)
			case entered:
				forward[e], turned[e] = [2]int{j, i}, true
			}
		}
		state[i] = left
	}
	for i := range n {
		if state[i] == 0 {
			visit(i)
		}
	}
	return forward, turned
}

// rank gives each node the longest way to it, and moves those that nothing feeds up to
// what they feed.
func rank(n int, links [][2]int) []int {
	ranks := make([]int, n)
	waits := make([]int, n)
	out := make([][]int, n)
	for _, l := range links {
		out[l[0]] = append(out[l[0]], l[1])
		waits[l[1]]++
	}
	var queue []int
	fed := make([]bool, n)
	for i := range n {
		if fed[i] = waits[i] > 0; !fed[i] {
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range out[i] {
			ranks[j] = max(ranks[j], ranks[i]+1)
			if waits[j]--; waits[j] == 0 {
				queue = append(queue, j)
			}
		}
	}
	for i := range n {
		if !fed[i] && len(out[i]) > 0 {
			nearest := math.MaxInt
			for _, j := range out[i] {
				nearest = min(nearest, ranks[j])
			}
			ranks[i] = nearest - 1
		}
	}
	return ranks
}

// order puts the boxes of each rank into an order, the best of a number of sweeps.
func (l *layout) order() [][]int {
	last := 0
	for _, b := range l.boxes {
		last = max(last, b.rank)
	}
	layers := make([][]int, last+1)
	for i, b := range l.boxes {
		layers[b.rank] = append(layers[b.rank], i)
	}
	best, fewest := clone(layers), l.crossings(layers)
	for sweep := range 24 {
		if fewest == 0 {
			break
		}
		if sweep%2 == 0 {
			for r := 1; r < len(layers); r++ {
				l.sortLayer(layers[r], layers[r-1], func(b *box) []int { return b.in })
			}
		} else {
			for r := len(layers) - 2; r >= 0; r-- {
				l.sortLayer(layers[r], layers[r+1], func(b *box) []int { return b.out })
			}
		}
		if n := l.crossings(layers); n < fewest {
			best, fewest = clone(layers), n
		}
	}
	return best
}

func clone(layers [][]int) [][]int {
	out := make([][]int, len(layers))
	for i := range layers {
		out[i] = slices.Clone(layers[i])
	}
	return out
}

// sortLayer orders a layer by the mean place of each box's neighbours in the fixed one.
func (l *layout) sortLayer(layer, fixed []int, neighbours func(*box) []int) {
	at := map[int]float64{}
	for k, i := range fixed {
		at[i] = float64(k)
	}
	for k, i := range layer {
		b := &l.boxes[i]
		near := neighbours(b)
		b.wanted = float64(k)
		if len(near) > 0 {
			sum := 0.0
			for _, j := range near {
				sum += at[j]
			}
			b.wanted = sum / float64(len(near))
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(l.boxes[a].wanted, l.boxes[b].wanted) })
}

// crossings counts the pairs of wires that cross between ranks: the inversions of the ends
// when the wires are in the order of their beginnings.
func (l *layout) crossings(layers [][]int) int {
	at := make([]int, len(l.boxes))
	for _, layer := range layers {
		for k, i := range layer {
			at[i] = k
		}
	}
	n := 0
	for _, layer := range layers[:len(layers)-1] {
		var ends []int
		for _, i := range layer {
			to := make([]int, 0, len(l.boxes[i].out))
			for _, j := range l.boxes[i].out {
				to = append(to, at[j])
			}
			slices.Sort(to)
			ends = append(ends, to...)
		}
		n += inversions(ends)
	}
	return n
}

// inversions sorts s and counts the pairs that were in the wrong order.
func inversions(s []int) int {
	if len(s) < 2 {
		return 0
	}
	left, right := slices.Clone(s[:len(s)/2]), slices.Clone(s[len(s)/2:])
	n := inversions(left) + inversions(right)
	for k := range s {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			s[k], left = left[0], left[1:]
		} else {
			n += len(left)
			s[k], right = right[0], right[1:]
		}
	}
	return n
}

// across sets the ranks side by side; all boxes of a rank begin at one line.
func (l *layout) across(layers [][]int) {
	x := margin
	for _, layer := range layers {
		w := 0.0
		for _, i := range layer {
			w = max(w, l.boxes[i].w)
		}
		for _, i := range layer {
			l.boxes[i].x = x
			if l.boxes[i].node < 0 {
				l.boxes[i].w = w
			}
		}
		x += w + rankGap
	}
	l.width = x - rankGap + margin
}

// down sets heights: in turns, each rank as near to its neighbours as its order allows.
func (l *layout) down(layers [][]int) {
	for _, layer := range layers {
		for _, i := range layer {
			l.boxes[i].wanted = 0
		}
		l.settle(layer)
	}
	for sweep := range 16 {
		for k := range layers {
			r := k
			if sweep%2 == 1 {
				r = len(layers) - 1 - k
			}
			for _, i := range layers[r] {
				l.boxes[i].wanted = l.mean(i)
			}
			l.settle(layers[r])
		}
	}
	top, bottom := math.Inf(1), math.Inf(-1)
	for i := range l.boxes {
		l.boxes[i].y = math.Round(l.boxes[i].y)
		top, bottom = min(top, l.boxes[i].y), max(bottom, l.boxes[i].y+l.boxes[i].h)
	}
	if len(l.boxes) == 0 {
		top, bottom = 0, 0
	}
	for i := range l.boxes {
		l.boxes[i].y += margin - top
	}
	l.height = bottom - top + 2*margin
}

// mean is the mean middle of the neighbours on both sides, or the box's own.
func (l *layout) mean(i int) float64 {
	b := &l.boxes[i]
	sum, n := 0.0, 0
	for _, near := range [][]int{b.in, b.out} {
		for _, j := range near {
			sum += l.boxes[j].middle()
			n++
		}
	}
	if n == 0 {
		return b.middle()
	}
	return sum / float64(n)
}

// settle gives the boxes of a rank the heights that are nearest to the wanted middles, in
// the sense of least squares, of all that keep the order and the gaps. Boxes that want to
// overlap form a block, which is where its members want it to be on average.
func (l *layout) settle(layer []int) {
	type block struct {
		sum, weight float64 // of the wanted places of the block's beginning
		from        int
	}
	offset := make([]float64, len(layer)) // of a middle from that of the first box
	for k := 1; k < len(layer); k++ {
		a, b := &l.boxes[layer[k-1]], &l.boxes[layer[k]]
		gap := boxGap
		if a.node < 0 || b.node < 0 {
			gap = wireGap
		}
		offset[k] = offset[k-1] + a.h/2 + gap + b.h/2
	}
	var blocks []block
	for k, i := range layer {
		weight := 1.0
		if l.boxes[i].node < 0 {
			weight = 4 // a long wire is rather straight
		}
		blocks = append(blocks, block{(l.boxes[i].wanted - offset[k]) * weight, weight, k})
		for n := len(blocks); n > 1 && blocks[n-2].sum/blocks[n-2].weight >= blocks[n-1].sum/blocks[n-1].weight; n-- {
			blocks[n-2].sum += blocks[n-1].sum
			blocks[n-2].weight += blocks[n-1].weight
			blocks = blocks[:n-1]
		}
	}
	for n, b := range blocks {
		to := len(layer)
		if n+1 < len(blocks) {
			to = blocks[n+1].from
		}
		for k := b.from; k < to; k++ {
			x := &l.boxes[layer[k]]
			x.y = b.sum/b.weight + offset[k] - x.h/2
		}
	}
}
